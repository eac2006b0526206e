// Writes random.json: what Node.js answers for random patterns. Run it as "node random.js 7 1200 > random.json"
// (seed, patterns) with Node.js 20; other seeds and more patterns find more.
let seed = +process.argv[2]
const random = n => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return (seed >> 8) % n }
const tokens = ['a', 'b', 'c', 'A', '1', '_', '-', ' ', '\\n', '.', '^', '$', '|', '(', '(', '(?:', '(?=', '(?!', '(?<=', '(?<!',
  '(?<n>', '(?<m>', '(?<$é>', ')', ')', ')', ')', ')', '[', '[^', ']', ']', '*', '+', '?', '*?', '+?', '??', '{', '}', '{2}', '{1,2}',
  '{0}', '{,2}', '{2,1}', '{1,}?', '{1', '\\', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\b', '\\B', '\\1', '\\2', '\\3', '\\8', '\\9',
  '\\0', '\\07', '\\12', '\\377', '\\400', '\\x61', '\\x6', '\\u0061', '\\u{61}', '\\u006', '\\ud83d', '\\ude00', '\\cA', '\\c', '\\c1',
  '\\c_', '\\k', '\\k<n>', '\\k<m>', '\\k<', '\\-', 'a-c', '\\d-z', 'z-a', 'é', '😀', '😁', '\u2028', 'k', '<', '>', ':', '=', '!', ',',
  '0', '\\t', '\\/', '/', 'x', 'u', '\ufeff', '\\p{L}', '\\P', '\\e']
const inputs = ['', 'a', 'ab', 'aab', 'cba', 'A1_b', 'a-c', '\n', 'é', '😀', '😁a', '1a1a', 'abab', '\\c', '\x01', 'x6', 'u006\u2028b', '{2}a{1', 'p{L}', ' \ufeff']
const patterns = []
for (let i = 0; i < +process.argv[3]; i++) {
  let pattern = ''
  for (let left = 1 + random(9); left > 0; left--) pattern += tokens[random(tokens.length)]
  if (random(2)) pattern += ')'.repeat(Math.max(0, pattern.split('(').length - pattern.split(')').length))
  try {
    const re = new RegExp(pattern)
    patterns.push({ pattern, matches: inputs.filter(s => re.test(s)) })
  } catch {
    if (patterns.length % 4 == 0) patterns.push({ pattern, invalid: true })
  }
}
console.log(JSON.stringify({ inputs, patterns }).replaceAll('{"pattern', '\n{"pattern'))
