// Package frontmatter reads the YAML between two lines of dashes at the head of a
// Markdown file. It never looks at the body, which may hold anything. It also
// reads files that are YAML as a whole.
//
// Two programs decide what such a file says, so there are two sets of rules:
//
//   - [Read] and [Parse] are for files that a language model writes and only this
//     program reads, such as the state of the planning workflow. Text may precede
//     the opening line, "..." closes too, and without the two lines the whole file
//     is YAML.
//   - [ReadSkill], [SkillName] and [CutSkill] are for a SKILL.md, which the client reads:
//     a skill answers to its folder's name and to the one in its frontmatter (measured with
//     2.1.329, facts 48, 50 and 59 of docs/client-facts.md). Only a file whose first
//     line opens the frontmatter and that closes it has one, so that no line of a text
//     becomes a skill's name. If the YAML is invalid, the line "name:" is used alone:
//     a description with a colon in it makes invalid YAML and is common. These two
//     rules are not measured.
//
// Both accept a byte order mark, CRLF and spaces after the dashes, take the last of
// two equal keys, and bound the bytes read and the aliases expanded. Merge keys
// are not applied.
package frontmatter
