package turn

// stops are requests to stop, one a line.
const stops = `
	stop
	Stop.
	STOP!!!
	stop stop stop
	please stop
	Please stop.
	Abort!
	QUIT now
	halt
	cancel
	cancel that
	exit
	Stop it
	stop this please
	ok stop
	no, stop
	wait, stop
	Hey Claude, stop
	Claude, please stop now.
	That's enough for today, please stop here, thank you very much
	That's enough.
	That is enough for now, thanks!
	OK, that's enough. Please stop.
	let us stop here for today, thanks
	Let's stop here.
	Let's call it a day
	I think we should call it a day.
	I think we should stop here
	I want to quit
	I want you to stop
	I'd like you to stop now, please
	I would like to stop here
	I said stop
	I told you to stop
	I have to go. Can you stop now?
	I need to go now, please stop.
	Can you stop?
	Could you please stop here?
	Would you mind? Please stop.
	Can we stop here?
	You can stop now, thanks
	You can stop the workflow now, thanks
	You may stop
	You should stop now
	please stop here without finishing the plan
	Stop, don't continue.
	Stop! That's wrong.
	stop working on the plan and go home, everyone
	Stop working.
	Stop what you're doing
	Please stop everything immediately
	stop here and summarize what you did
	stop for now, we will continue tomorrow
	stop here, we'll go on later
	Pause. I must look at the design first.
	Pause here for a moment
	Stop right there.
	stop until I am back
	Abort the workflow
	cancel all tasks please
	Quit the session
	Never mind, stop
	Forget it.
	hold on
	Hold on a second
	don't continue
	Please don't continue with this
	Do not go any further, please.
	No need to continue
	That will do, thank you!
	That'll do for today
	We're done for today. Thanks!
	I'm done for today, see you tomorrow
	That's all for now, thank you
	Enough for today
	enough
	It's late, let's stop
	My train leaves in ten minutes. Please stop here.
	The meeting starts soon, stop here please
	Great work! Let's finish here for today.
	Thanks, that's enough for now. Good night!
	It is time to stop
	This is a good place to stop.
	Sorry, I have to leave. Stop please.
	yes, stop there
	Stopp!
	Bitte stopp
	bitte jetzt abbrechen
	Bitte hier abbrechen, danke
	Hör auf
	Hör bitte auf damit
	Das reicht für heute, danke.
	Es reicht.
	Genug für heute, vielen Dank!
	Schluss für heute
	Lass uns für heute aufhören
	Wir können hier aufhören
	Mach nicht weiter
	Lass gut sein
	Arrêtez tout
	Arrête-toi là
	Ça suffit pour aujourd'hui, merci beaucoup
	On s'arrête là
	S'il te plaît, arrête
	detente por favor
	Basta por hoy, gracias
	Por favor, cancela
	Para aquí, por favor
	Es suficiente por hoy
	Fermati qui, grazie
	Basta così per oggi
	Pare agora, por favor
	Chega por hoje, obrigado
	Hou op
	Genoeg voor vandaag, bedankt
	Przestań
	Na dziś wystarczy, dzięki
	стоп
	Хватит на сегодня, спасибо
	Остановись, пожалуйста
	На сегодня достаточно
	lütfen dur
	Bugünlük bu kadar, teşekkürler
	توقف من فضلك
	रुको
	停止
	请停止
	停止してください
	取消这个计划
	今天先到这里吧，谢谢
	够了，停下
	不要继续了
	やめて
	今日はここまで
	今日はここまでにして
	ここで止めてください
	ストップ！
	그만해
	오늘은 여기까지
	이제 그만 해주세요
	지금 멈춰 주세요
	stop the workflow here for today please
	can you please stop now?
	alright, that's it for today
	I think that's enough for now
	Okay that is all for today. Thank you so much!
	please end the session
	Let's wrap up for today
	we can stop here
	That should be enough for today
	let's leave it there
	we'll pick this up tomorrow, stop for now
	Let's pause here
	Could we take a break?
	I'm tired, let's stop for tonight
	let's continue tomorrow
	Enough, thanks.
	no more please
	please halt immediately
	cancel this
	please abort
	STOP NOW
	Stop, please, I need to think.
	time to stop
	it's time for a break
	Would you be so kind as to stop here?
	Stop working on this for now.
	please cease all work
	Ok, stop. I'll take it from here.
	I'll take it from here, thanks
	stop doing anything
	don't do anything more
	You don't need to continue
	You needn't go on
	That's fine, you can stop
	Good enough, stop.
	good enough for today
	thanks, we'll stop here
	just stop
	Just stop already!
	stop, stop, stop
	Hey, could you stop there for a moment? I want to look at the diff.
	Bitte aufhören
	Bitte hör jetzt auf, danke
	Stopp, das reicht
	Für heute reicht es
	Das war's für heute, danke
	Lass uns hier Schluss machen
	Wir machen morgen weiter, bitte stopp
	Kannst du bitte hier aufhören?
	Brich bitte ab.
	Mach bitte Feierabend
	Arrête s'il te plaît
	On peut s'arrêter là pour aujourd'hui
	C'est bon, arrête
	Merci, c'est tout pour aujourd'hui
	Para, por favor
	Detente aquí
	Ya basta
	Vamos a parar aquí por hoy
	Dejémoslo por hoy
	Fermiamoci qui per oggi, grazie
	Può bastare così, grazie
	Stop per oggi
	Vamos parar por hoje
	Пожалуйста, остановись
	Давай на сегодня закончим
	Стоп, хватит
	Dur lütfen
	Stop maar
	Laten we hier stoppen
	Stoppen we hier voor vandaag
	暂停一下
	好了，先停下吧
	今天就到这里
	先停一下
	停！
	もうやめて
	一旦ストップしてください
	今日はこれで終わりにしましょう
	잠깐 멈춰
	여기서 멈춰주세요
	오늘은 그만하자
`

// noStops are other messages, one a line.
const noStops = `
	stop the server
	please stop the server
	Stop the server and restart it
	can you stop the dev server?
	stop using tabs
	Stop adding comments everywhere
	stop asking me about tests
	the bus stop page
	Add a bus stop page
	Build the page of the next stop
	don't stop until tests pass
	don't stop until tasks.md exists
	don’t stop
	do not stop
	Please don't stop
	please never stop
	never stop
	do not quit
	don't quit now
	without exit
	nonstop work
	unstoppable
	stopped?
	How do I stop the server?
	How do I cancel?
	Why did you stop?
	Should we stop?
	Why not exit early?
	I want an app that helps people quit
	an app that helps people quit
	Build the login. Then please stop the old service
	the emergency-stop button must be red
	Add an exit button
	add a cancel button
	The cancel button does not work
	Cancel button is broken
	cancel my subscription
	pause the video when the tab is hidden
	make it stop
	make the animation pause
	exit code 3 is wrong
	exit the loop early
	Exit criteria are missing
	Write the exit criteria for the checkout page and then carry on with the architecture
	quit vim
	halt the container
	abort the upload when offline
	Stop words should be removed
	stop.sh fails
	run stop.sh
	stop: true is not accepted
	rename "stop" to "halt"
	` + "the flag `stop` is ignored" + `
	it should stop
	It should stop after 5 seconds
	The script must stop when it fails
	stop if the tests fail
	stop when you are done
	stop once the tests pass
	Stop after step 2
	stop before publishing
	stop on the first failure
	stop at the first error
	Finish step 2 and then stop
	It has to compile, then stop
	When you're done, stop.
	I'll tell you when to stop
	Write until I say stop
	Go on, don't stop
	continue
	go on
	Stop. Now continue with step 3
	I'm done with the review, go ahead
	Is that enough?
	that's enough tests, now write the docs
	enough tests
	hold on to the file
	wait for the build
	Wait, use the other file
	Hold on, the file is called a.md
	I need the login page. Stop the old service.
	Use full stops in sentences
	full stop
	Stop Loss orders are missing
	a stop-gap solution
	one-stop shop
	non-stop flights
	stop_hook_active is wrong
	the tests stop too early
	it won't stop
	it doesn't stop
	The music can't stop
	Para el plan usa PostgreSQL
	Para el servidor
	Para aquí necesitamos otra tabla
	no cancelar
	Stoppe den Server
	Stopp den Server
	Nicht aufhören
	nicht abbrechen
	Der Abbrechen-Knopf fehlt
	Hör nicht auf
	arrête le serveur
	N'arrête pas
	Ne pas annuler
	non fermarti
	Cancela la reserva del cliente
	не останавливайся
	Кнопка отмена не работает
	останови сервер
	停止服务器
	不要停止
	别停
	取消按钮不工作
	サーバーを停止して
	止めないで
	やめないで
	멈추지 마
	서버 중지 버튼
	그만두지 마
	Halte dich an den Plan
	Which port does it use?
	Thanks!
	ok
	please
	yes
	fix the tests
	What is left to do?
	stop the container please
	Please stop printing debug output
	could you stop the tests from running twice?
	Stop including the header in every file
	the stop command is missing
	implement the stop method
	add stop() to the player
	what does stop do?
	Does it stop on errors?
	Please make sure it doesn't stop
	don't give up
	never give up on the tests
	do it without stopping
	keep going until everything is done, don't stop for questions
	cancel the order endpoint returns 500
	quit asking and do it
	stop generating so many files
	pause between requests
	the pause menu
	the user can cancel the dialog
	when I press stop the music continues
	Stop the timer at midnight
	halt if the disk is full
	exit when done
	exit 1 on failure
	abort on error
	a cancel link is enough
	one test is enough
	Is one test enough?
	that's not enough
	enough talk, write the code
	wait for CI and then merge
	wait until the server is up
	please wait for the migration to finish
	hold the lock while writing
	leave it as it is and fix the other one
	leave it unchanged
	forget the old API
	forget about the tests, just ship it
	never mind the warnings
	drop it from the list
	wrap it in a function
	wrap up the function in a try block
	wrap this up in a module
	finish here what you began
	take a break statement out of the loop
	cut it out of the page
	let it be optional
	let it go through the proxy
	Stop-Button hinzufügen
	Der Server stoppt nicht
	Wie stoppe ich den Server?
	Bitte den Server stoppen
	Bitte nicht aufhören
	Bitte hör nicht auf
	mach weiter
	Abbrechen soll das Fenster schließen
	Warte auf den Build
	Genug Tests, mach weiter
	Das reicht nicht
	arrêter le conteneur
	Annule la dernière modification
	Cancela el pedido
	no pares
	Ferma il server
	не останавливай сервер
	останови контейнер
	остановить сервер
	Отмена заказа не работает
	取消订单功能
	停止按钮
	停止使用这个库
	キャンセルボタンを追加
	中止ボタン
	서버를 멈춰
	취소 버튼을 추가해
	no, that is wrong
	I want to stop the server
	We need to stop the leak
	you should stop the process first
	let's stop using mocks
	we should stop supporting Node 16
	I think we should stop writing tests for getters
	stop it from crashing
	stop this function from running twice
	cancel that request in flight
	stop there being two buttons
	stop everything except the database
	pause all animations
	stop all containers
	end the session after 30 minutes
	end here with a newline
	stop working directory changes
	cancel everything in the queue
	that's enough for the login, go on with the logout
	enough for today's page, next page
	stop by the office
	Please quit the app when the window closes
	skip step 3
	undo
	stop now playing from restarting
	exit now button
`
