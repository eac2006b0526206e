package turn

import (
	"strings"
	"sync"
)

// stopWords are words that ask to stop.
func stopWords() []string {
	return strings.Fields(`
		stop cancel pause halt quit abort exit cease terminate
		stopp abbrechen abbruch anhalten aufhören pausiere pausieren schluss feierabend
		arrête arrêtez arrêter arrêtons annule annulez annuler
		detente deténgase detén parar paremos cancela cancelar cancele para pausa basta aborta abortar déjalo
		pare paremos chega fermati fermatevi fermare fermiamoci smettila annulla interrompi interrompere
		stoppen annuleer annuleren ophouden
		zatrzymaj przestań anuluj przerwij wystarczy
		стоп остановись остановитесь остановить остановимся отмена отмени отменить хватит довольно прекрати прекратите прекращай закончим закончить заканчивай заканчиваем пауза
		стій зупинись зупинися зупинитися скасувати досить
		dur durdur iptal yeter sluta avbryt stoppa pysähdy lopeta
		توقف قف إلغاء أوقف يكفي
		रुको रुकिए रुकें बस
		停止 停下 停下来 停一下 停 暂停一下 暫停一下 取消 暂停 暫停 中止 终止 住手 够了 夠了
		ストップ 止めて やめて やめよう 中止して 中断 中断して 一時停止 キャンセル 終わりにして 終わりにしよう 終わりにしましょう 終わり
		중지 멈춰 멈춰줘 멈추세요 멈춰주세요 그만 그만해 그만하자 취소 정지 หยุด`)
}

// stopPhrases are groups of words that ask to stop.
func stopPhrases() []string {
	return lines(`
		that should be enough
		that should do
		i'll take it from here
		i'll take over
		i'll do the rest
		i'll finish it myself
		time for a break
		you stopped
		continue tomorrow
		continue later
		go on tomorrow
		go on later
		resume tomorrow
		resume later
		pick this up tomorrow
		pick this up later
		pick it up tomorrow
		pick it up later
		finish tomorrow
		don't need to continue
		don't need to go on
		don't have to continue
		don't have to go on
		needn't continue
		needn't go on
		stop doing anything
		wait
		hold on
		hold it
		hold off
		hold up
		stand down
		give it a rest
		give up
		leave it
		leave it there
		leave it at that
		leave it be
		let it be
		let it go
		forget it
		forget about it
		never mind
		nevermind
		drop it
		cut it out
		knock it off
		call it a day
		call it a night
		wrap up
		wrap it up
		wrap this up
		take a break
		finish here
		finish there
		end here
		end it here
		end the session
		end this session
		break off
		suspend
		interrupt
		no more
		no further
		go no further
		nothing more
		no need to continue
		no need to go on
		don't continue
		do not continue
		don't go on
		do not go on
		don't go any further
		do not go any further
		don't proceed
		do not proceed
		don't carry on
		do not carry on
		don't keep going
		do not keep going
		don't do anything else
		do not do anything else
		don't do any more
		do not do any more
		don't do anything more
		that's enough
		that is enough
		thats enough
		this is enough
		it's enough
		enough is enough
		enough
		that will do
		that'll do
		that does it
		that's it for today
		that's it for now
		that's all for today
		that's all for now
		that is all for today
		that is all for now
		that's all
		i've seen enough
		we're done here
		we are done here
		we're done for today
		we are done for today
		we're done for now
		i'm done for today
		i am done for today
		i'm done for now
		done for today
		done for now
		hör auf
		hör bitte auf
		hör jetzt auf
		hör jetzt bitte auf
		hört auf
		hören sie auf
		hören sie bitte auf
		hören wir auf
		höre auf
		mach schluss
		machen wir schluss
		schluss machen
		schluss damit
		schluss für heute
		für heute schluss
		brich ab
		brich das ab
		brich es ab
		brich bitte ab
		brechen sie ab
		brechen wir ab
		halt
		halt an
		halte an
		lass es
		lass das
		lass gut sein
		lass es gut sein
		lassen wir es dabei
		das reicht
		es reicht
		reicht es
		reicht
		das war's
		das wars
		das war es
		mach morgen weiter
		machen morgen weiter
		machen wir morgen weiter
		das genügt
		genug
		genug jetzt
		nicht weiter
		nicht weitermachen
		nicht mehr weitermachen
		mach nicht weiter
		mach bitte nicht weiter
		nicht fortfahren
		warte
		warte mal
		arrête-toi
		arrêtez-vous
		on arrête
		on s'arrête
		on s'arrête là
		s'arrêter
		s'arrêter là
		arrêtons-nous
		laisse tomber
		laissez tomber
		ça suffit
		cela suffit
		c'est assez
		assez
		ne continue pas
		ne continuez pas
		c'est tout pour aujourd'hui
		c'est bon pour aujourd'hui
		para aquí
		para ya
		para ahora
		para por favor
		ya está bien
		es suficiente
		ya es suficiente
		suficiente
		hasta aquí
		ya para
		lo dejamos aquí
		dejémoslo aquí
		déjalo aquí
		dejémoslo
		no sigas
		no siga
		no continúes
		no continúe
		no continuar
		eso es todo por hoy
		pode parar
		vamos parar
		já chega
		não continue
		é suficiente
		é o suficiente
		por hoje é só
		basta così
		può bastare
		non continuare
		non andare avanti
		lascia perdere
		lascia stare
		per oggi basta
		hou op
		houd op
		stop ermee
		hou ermee op
		genoeg
		ga niet verder
		niet verdergaan
		nie kontynuuj
		dość
		na dziś wystarczy
		не продолжай
		не продолжайте
		не надо продолжать
		достаточно
		на сегодня всё
		на сегодня все
		не продовжуй
		bu kadar yeter
		bugünlük bu kadar
		bırak
		devam etme
		det räcker
		nog för idag
		fortsätt inte
		لا تكمل
		لا تستمر
		हो गया बस
		बंद करो
		到此为止
		到此為止
		到这里
		到這裡
		不要继续
		不要繼續
		别继续
		別繼續
		不用继续
		不用了
		算了
		收工
		ここまで
		もういい
		もう十分
		十分です
		続けないで
		여기까지
		됐어
		충분해
		계속하지 마
		계속하지 마세요
		พอแล้ว`)
}

// before are words and phrases that may come before a stop word in a request: words of
// politeness, and words about who wants to stop, and when.
func before() []string {
	return append(strings.Fields(`
		please pls plz kindly ok okay alright right hey hi hello so well yes yeah yep no nope nah now just then and but actually sorry oh um hmm wait thanks thank you thx cheers
		i i'd i'll i'm we we'd we'll we're let let's lets us me mind you'd want wanted wants would like liked prefer could can may might should shall must need needs have has had got to i'd appreciate it if be so kind as to think guess suppose say said say saying told tell telling ask asked asking
		time it it's is that's that this fine good great better rather best enough more for today tonight right the moment at claude everyone all immediately simply already
		need to if you could would be nice great lovely glad happy grateful if i ask beg order command
		bitte jetzt sofort danke mach machen machst gut ja nein na also nun mal lass lasst uns wir sollten können könnten kannst könntest du sie würdest würden ich möchte will wollen müssen muss dann hier für heute das doch einfach okay
		s'il te vous plaît merci maintenant on peut pouvez peux tu je veux voudrais allez oui bon pour aujourd'hui tout
		por favor ahora ya gracias puedes puede podemos quiero quisiera vamos a hoy sí bueno vale
		per favore ora grazie adesso puoi possiamo voglio vorrei oggi va bene
		agora obrigado obrigada você pode podemos quero hoje vamos
		пожалуйста сейчас давай давайте на сегодня мы можем можешь ты я хочу так ну всё спасибо
		будь ласка зараз
		proszę teraz już na dziś alsjeblieft alstublieft nu maar voor vandaag we kunnen laten lütfen artık şimdi bugünlük tamam snälla nu vänligen
		من فضلك الآن لو سمحت कृपया अब
		请 請 您 你 我们 我們 我 想 先 现在 現在 今天 就 可以 都 好 好的 好了 吧 了 一下 麻烦 給我 给我 快 马上 立刻 让我们 咱们
		今日は 今 今すぐ もう ここで とりあえず いったん 一旦 ちょっと すみません お願い お願いします これで ください して してください しましょう てください に にして にしましょう です で は を
		오늘은 잠깐 잠시 지금 이제 제발 좀 여기서 해 해주세요 해줘 하세요 하자 합시다 주세요 줘 에서`), lines(`
		the moment
		a good place to
		a good point to
		a good time to
		a good moment to
		the time to
		as of now
		from now on
		for the moment
		if you don't mind
		i beg you
		i repeat`)...)
}

// after are words and phrases that may follow a stop word. They do not name anything else
// that is to be stopped, such as a server.
func after() []string {
	return append(strings.Fields(`
		please pls plz now here there it this that these all everything everyone immediately right away today tonight tomorrow for moment once already later again
		thanks thank you thx cheers ok okay very so much kindly ta
		claude i i'll i'm we we'll can will continue resume go on sir buddy mate man friend dude
		plan planning workflow work working task tasks session job jobs steps run doing coding whatever
		entirely completely altogether instantly indeed really anyway early short fully
		jetzt hier sofort bitte damit das alles mal erstmal vorerst danke vielen dank schön sehr für heute arbeit die den workflow aufgabe aufgaben diese heute erst nun doch
		maintenant ici là tout merci beaucoup pour aujourd'hui l'instant toi vous s'il te plaît travail le
		ahora aquí ahí todo ya gracias muchas por hoy favor trabajo el
		ora qui tutto grazie mille per oggi favore adesso lavoro il così
		agora aqui tudo obrigado obrigada muito por hoje favor trabalho o
		hier nu bedankt vandaag voor maar alsjeblieft dank je
		сейчас здесь тут всё все это пожалуйста спасибо большое на сегодня работу
		tutaj teraz wszystko proszę dzięki na dziś burada şimdi lütfen teşekkürler
		här nu idag tack هنا الآن شكرا من فضلك لو سمحت यहाँ अब धन्यवाद
		这里 這裡 这儿 工作 任务 任務 计划 計劃 流程 这个 這個 所有 一切 全部 谢谢 謝謝 辛苦了 休息 的
		ここ この 作業 タスク 計画 ありがとう ありがとうございます ございます お疲れ様 ね よ
		작업 모든 계획 일 을 를 이 감사합니다 고마워 고마워요 요`), lines(`
		the plan
		the planning
		the workflow
		the work
		the task
		the tasks
		the session
		the job
		the steps
		the run
		the whole thing
		a plan
		a workflow
		your work
		your task
		your tasks
		my session
		at once
		at this point
		for a moment
		for a minute
		for a while
		for the moment
		for the day
		for the night
		for the time being
		for now
		a moment
		a minute
		a second
		a sec
		a bit
		a day
		what you're doing
		what you are doing
		whatever you're doing
		whatever you are doing
		doing this
		doing that
		doing what you're doing
		working on it
		working on this
		working on that
		working on the plan
		working on the workflow
		working on the task
		working on the tasks
		with this
		with that
		with it
		with everything
		with the work
		with the workflow
		with the plan
		with the task
		with the tasks
		where you are
		where we are
		right there
		right where you are
		thank you very much
		thanks a lot
		will you
		would you
		if you can
		if you could
		if possible
		if that's ok
		if that's okay
		if you don't mind
		if you like
		if i may ask
		i said
		i say
		i told you
		i beg you
		as soon as possible
		asap
		or else
		to the work`)...)
}

// lazy is phrases that are built when they are first needed, not at the start of the program.
type lazy struct {
	text  string // one phrase a line
	once  sync.Once
	built phrases
}

func (l *lazy) get() phrases {
	l.once.Do(func() { l.built = phrasesOf(lines(l.text)) })
	return l.built
}

// resumptions begin a clause that asks to go on.
var resumptions = lazy{text: `
	continue
	go on
	go ahead
	carry on
	keep going
	keep on
	keep working
	keep at it
	proceed
	resume
	don't stop
	do not stop
	mach weiter
	weiter
	weitermachen
	continuez
	continúa
	sigue
	продолжай
	continua
	devam et
	继续
	続けて
	계속`}

// farewells begin a clause that asks for nothing.
var farewells = lazy{text: `
	see you
	talk to you
	talk later
	good night
	good job
	good work
	nice work
	nice job
	great work
	great job
	well done
	bye
	goodbye
	cheers
	have a good
	have a nice
	more tomorrow
	more later
	the rest can wait
	the rest later
	the rest tomorrow
	enough for today
	later
	tomorrow
	continue tomorrow
	continue later
	resume tomorrow
	resume later
	bis morgen
	bis später
	gute nacht
	schönen abend
	schönen feierabend
	tschüss
	morgen weiter
	à demain
	à plus
	bonne nuit
	bonne soirée
	hasta mañana
	hasta luego
	buenas noches
	a domani
	buona notte
	buonanotte
	até amanhã
	boa noite
	tot morgen
	до завтра
	спокойной ночи
	do jutra
	明天
	回头
	晚安
	谢谢
	謝謝
	辛苦
	また明日
	明日
	ありがとう
	お疲れ
	おやすみ
	내일
	감사
	고마
	수고`}

// leisure follows a wish that is none of the agent's business: "I need to go".
var leisure = lazy{text: `
	to
	a break
	a moment
	a minute
	a coffee
	a rest
	some rest
	some sleep
	some time
	time
	sleep
	lunch`}

const (
	// softWords ask to stop only if nothing else is asked for.
	softWords set = " wait hold enough that that's leave let never nevermind forget warte halt genug das suspend finish end wrap give take "
	// alone are words that ask to stop only where nothing follows: "para" is also "for".
	alone set = " para "
	// holdWords ask to stop only if nothing is said about the matter.
	holdWords set = " wait hold warte "
	// conjunctions begin clauses that say how long, how or why to stop, and not what.
	conjunctions set = " without until till because since as instead so then don't and but or while i'm i've i'll we're we've it's there's " +
		"ohne bis weil und sans jusqu'à parce et sin hasta porque y senza perché e "
	// conditions begin clauses that say when to stop.
	conditions set = " if when whenever once after before unless as-soon wenn falls sobald nachdem bevor si quand dès après avant cuando " +
		"después antes se quando dopo prima если когда после als zodra "
	// negations before a stop word turn it round.
	negations set = " not never don't dont won't can't cannot shouldn't nicht nie kein ne pas jamais não nunca non niet не нет nie "
	// things are subjects of which a clause tells how they behave.
	things set = " it this that they he she everything all es das "
	modals set = " should must can could will would may might has needs shall soll muss kann "
	// askers make a question a request.
	askers set = " please you pls plz can could can't may would bitte kannst könntest können könnten peux pouvez peut puedes puede podemos " +
		"puoi possiamo pode podemos можешь можем kunnen "
	// fillers may begin a clause that asks to go on.
	fillers set = " and now then please ok okay so just but und jetzt dann bitte et maintenant y ahora "
	// laters say that the work goes on another time.
	laters set = " tomorrow later monday next afterwards tonight again another morgen später demain mañana domani завтра "
	// sequels say that something comes before.
	sequels set = " then afterwards dann danach puis ensuite luego después poi потом "
	// greetings begin remarks.
	greetings set = " thanks thank thx cheers ok okay no yes yeah nope sorry great good fine enough well hi hey hello perfect nice awesome " +
		"cool danke vielen merci gracias muchas grazie obrigado obrigada bedankt спасибо dzięki teşekkürler tack شكرا धन्यवाद "
	// persons begin remarks about those who speak.
	persons set = " i i'm i've i'd i'll we we're we've we'd we'll my our ich wir mein meine je j'ai nous mon ma mi tengo estoy sono devo ho " +
		"я мы мне у because as "
	// subjects begin statements.
	subjects set = " it it's its that that's this there there's the he she they somebody someone something everything nothing you're " +
		"you've es das c'est il es это "
	// wishes make a statement a request.
	wishes set = " need needs want wants should must wish prefer would please have-to ought require requires brauche möchte will soll muss " +
		"veux voudrais faut quiero necesito debe voglio vorrei хочу надо нужно "
)
