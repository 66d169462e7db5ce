// Prints the JSON schemas of MCP that the conformance suite has within its program, by revision.
// They are object literals there, in the order of the revisions.
const fs = require('fs')
const text = fs.readFileSync(process.argv[2], 'utf8')

// The end of the literal that begins at i. Its strings are templates without ${.
function end(i) {
	for (let depth = 0, quoted = false; i < text.length; i++) {
		const c = text[i]
		if (quoted && c === '\\') i++
		else if (c === '`') quoted = !quoted
		else if (!quoted && c === '{') depth++
		else if (!quoted && c === '}' && --depth === 0) return i + 1
	}
	throw new Error('a schema does not end')
}

const schemas = {}
for (let i = text.indexOf('={$schema:`'); i >= 0; i = text.indexOf('={$schema:`', i + 1)) {
	const schema = (0, eval)('(' + text.slice(i + 1, end(i + 1)) + ')')
	const names = schema.$defs || schema.definitions
	// Told apart by what each revision has added.
	const revision = names.DiscoverResult ? '2026-07-28'
		: names.Task ? '2025-11-25'
			: names.ElicitRequest ? '2025-06-18' : '2025-03-26'
	if (schemas[revision]) throw new Error('two schemas of ' + revision)
	schemas[revision] = schema
}
console.log(JSON.stringify(schemas))
