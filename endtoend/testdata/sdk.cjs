// Has a client of one of the TypeScript SDKs do all that one does with tmux-mcp, and fails where
// an answer is another. Arguments: the directory of npm's modules, the package, the era ("legacy",
// or the revision that is wanted), and the command of the server.
const assert = require('assert')
const [modules, pkg, era, command, ...args] = process.argv.slice(2)
const load = require('module').createRequire(modules + '/x.js')
const v2 = pkg === '@modelcontextprotocol/client'
const { Client } = load(v2 ? pkg : pkg + '/client')
const { StdioClientTransport } = load(v2 ? pkg + '/stdio' : pkg + '/client/stdio.js')
const types = v2 ? {} : load(pkg + '/types.js')

const pane = process.env.TMUX_PANE
const sleep = ms => new Promise(done => setTimeout(done, ms))

// until waits for a condition; the test's own time limit ends it.
async function until(what) { while (!what()) await sleep(5) }

async function main() {
	const client = new Client({ name: 'endtoend', version: '1' }, {
		capabilities: { elicitation: {} },
		versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: era } },
	})
	let asked = 0
	const answers = []
	client.setRequestHandler(v2 ? 'elicitation/create' : types.ElicitRequestSchema, async request => {
		asked++
		assert.match(request.params.message, /^The agent wants to /)
		return answers.shift()
	})
	const updated = []
	client.setNotificationHandler(v2 ? 'notifications/resources/updated' : types.ResourceUpdatedNotificationSchema, async n => { updated.push(n.params.uri) })
	client.onerror = e => { throw e }
	await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }))
	assert.equal(client.getServerVersion().name, 'tmux')
	assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ['completions', 'logging', 'prompts', 'resources', 'tools'])

	const { tools } = await client.listTools()
	assert(tools.length > 50)
	const call = (name, args, options) => v2
		? client.callTool({ name, arguments: args }, options)
		: client.callTool({ name, arguments: args }, undefined, options)
	const panes = await call('list_panes', {})
	assert(panes.structuredContent.result.some(p => p.pane_id === pane))
	assert.equal((await call('get_pane_info', { pane_id: '%99' })).isError, true)
	await assert.rejects(call('no_such_tool', {}), e => e.code === -32602 && /there is no tool/.test(e.message))

	// The user is asked about the client's own pane, and answers.
	answers.push({ action: 'decline' }, { action: 'accept', content: {} })
	assert.equal((await call('clear_pane', { pane_id: pane })).isError, true)
	assert(!(await call('clear_pane', { pane_id: pane })).isError)
	assert.equal(asked, 2)

	// Progress, and a call that is given up.
	const progress = []
	await call('wait_for_text', { pane_id: '%0', timeout: 1.5 }, { onprogress: p => progress.push(p.progress), timeout: 60000 })
	assert(progress.length > 0)
	const gaveUp = new AbortController()
	const waiting = call('wait_for_text', { pane_id: '%0', timeout: 60 }, { signal: gaveUp.signal })
	gaveUp.abort()
	await assert.rejects(waiting)

	assert.equal((await client.listPrompts()).prompts.length, 4)
	assert((await client.getPrompt({ name: 'interrupt_gracefully', arguments: { pane_id: '%0' } })).messages.length > 0)
	await assert.rejects(client.getPrompt({ name: 'interrupt_gracefully', arguments: {} }), e => e.code === -32602)
	const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'interrupt_gracefully' }, argument: { name: 'pane_id', value: '%' } })
	assert(completion.values.includes('%0'))

	assert.deepEqual((await client.listResources()).resources, [])
	assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 6)
	assert.match((await client.readResource({ uri: 'tmux://sessions' })).contents[0].text, /"session_name": "a"/)
	await assert.rejects(client.readResource({ uri: 'tmux://panes/%99' }), e => /not found/.test(e.message) && e.data.uri === 'tmux://panes/%99')

	// A resource that changes.
	const uri = 'tmux://panes/%250/content'
	let listening
	if (era === 'legacy') {
		await client.ping()
		await client.setLoggingLevel('warning')
		await client.subscribeResource({ uri })
	} else {
		const nothing = await client.listen({ resourceSubscriptions: ['tmux://nothing'] })
		assert.deepEqual(nothing.honoredFilter, {})
		listening = await client.listen({ resourceSubscriptions: [uri, 'tmux://nothing'] })
		assert.deepEqual(listening.honoredFilter, { resourceSubscriptions: [uri] })
	}
	await call('send_keys', { pane_id: '%0', keys: 'changed' })
	await until(() => updated.includes(uri))
	if (listening) await listening.close()
	else await client.unsubscribeResource({ uri })
	await client.close()
	console.log('all of it')
}

main().catch(e => { console.error(e); process.exit(1) })
