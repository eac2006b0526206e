// Package frontmatter reads the YAML between two lines of dashes at the beginning of a
// Markdown file. It does not parse the body, which may contain anything. It also reads
// files that consist of YAML only.
//
// There are several sets of rules, because several programs read such files:
//
//   - [Read] and [Parse] are for files that a language model writes and only this
//     program reads, such as the state of the planning workflow. Text may precede
//     the opening line, "..." is a closing line too, and a file without the two lines
//     is YAML as a whole.
//
//   - [ReadSkill], [SkillName] and [CutSkill] are for a SKILL.md, which the client reads:
//     it finds a skill by its folder's name and by the name in its frontmatter (measured with
//     2.1.329, facts 48, 50 and 59 of docs/internals/client-facts.md). The client takes
//     the text up to the next three dashes, even within a line, and if it is not YAML it
//     reads it once more with values in quotation marks that may be the reason: a
//     description that contains a colon is common (fact 168). [CutSkill] cuts at whole
//     lines, for programs that edit the file.
//
//   - [Field] and [CheckLines] are for a SKILL.md that other agents read.
//
// All accept a byte order mark, CRLF and spaces after the dashes, use the last of
// duplicate keys, and limit the bytes read and the aliases expanded. Merge keys are not
// applied, but for the name of a skill.
package frontmatter
