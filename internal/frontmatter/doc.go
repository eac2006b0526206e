// Package frontmatter reads the YAML between two lines of dashes at the beginning of a
// Markdown file. It does not parse the body, which may contain anything. It also reads
// files that consist of YAML only.
//
// There are two sets of rules, because two programs read such files:
//
//   - [Read] and [Parse] are for files that a language model writes and only this
//     program reads, such as the state of the planning workflow. Text may precede
//     the opening line, "..." is a closing line too, and a file without the two lines
//     is YAML as a whole.
//   - [ReadSkill], [SkillName] and [CutSkill] are for a SKILL.md, which the client reads:
//     it finds a skill by its folder's name and by the name in its frontmatter (measured with
//     2.1.329, facts 48, 50 and 59 of docs/client-facts.md). A file has frontmatter only
//     if its first line opens it and another line closes it, so that no line of the text
//     is mistaken for a skill's name. If the YAML is invalid, only the line "name:" is
//     used: a description that contains a colon is common and makes the YAML invalid.
//     These two rules are not measured.
//
// Both accept a byte order mark, CRLF and spaces after the dashes, use the last of
// duplicate keys, and limit the bytes read and the aliases expanded. Merge keys are not
// applied.
package frontmatter
