/**
 * Calls every operation of the API through the generated client. It is compiled beside that client, so the types of
 * the client are held to what stands here; what is expected of the answers stands in the test.
 */
import * as client from './client.js'

/** Switches one relay on the board often enough that the last switching waits while a request is answered. */
const MANY = Array.from({ length: 20 }, (_, index) => ({
  id: `s${index}`,
  name: 'relays__set_relay',
  arguments: { channel: 7, on: index % 2 === 0 },
}))

async function startMany() {
  const accepted = await client.runBatch({ calls: MANY }, { prefer: 'respond-async' })
  if (accepted.status !== 202) throw new Error(`the batch was answered with ${accepted.status}`)
  return accepted.data.id
}

/** @param {string} id */
async function untilDone(id) {
  for (;;) {
    const answer = await client.getBatch(id)
    if (answer.status !== 200) throw new Error(answer.data.detail)
    if (answer.data.state === 'done') return answer
  }
}

async function configuration() {
  const answer = await client.getConfiguration()
  if (answer.status !== 200) throw new Error(answer.data.detail)
  return answer.data
}

export const calls = {
  getHealth: () => client.getHealth(),
  getReadiness: () => client.getReadiness(),
  getOpenApiDocument: () => client.getOpenApiDocument(),
  getMetrics: () => client.getMetrics(),
  listPorts: () => client.listPorts(),
  async getPort() {
    await client.call({ name: 'relays__read_relays' })
    return client.getPort('board')
  },
  async getPortTrace() {
    await client.call({ name: 'relays__set_relay', arguments: { channel: 0, on: true } })
    return client.getPortTrace('board', { last: 4 })
  },
  streamPortTrace: () => client.streamPortTrace('office_co2'),
  sendToPort: () => client.sendToPort('board', { hex: '01 05 00 00 ff 00 8c 3a', waitMs: 300 }),
  releasePort: () => client.releasePort('spare', { forMs: 60_000 }),
  listDevices: () => client.listDevices(),
  async getDevice() {
    await client.call({ name: 'office_co2__read_co2' })
    return client.getDevice('office_co2')
  },
  listDeviceTypes: () => client.listDeviceTypes(),
  listTools: () => client.listTools(),
  call: () =>
    client.call({
      id: 'mine',
      name: 'relays__set_relay',
      arguments: { channel: 2, on: true },
      deadlineMs: 5000,
    }),
  runBatch: () =>
    client.runBatch({
      calls: [
        { id: 'on', name: 'relays__set_relay', arguments: { channel: 3, on: true } },
        { id: 'look', name: 'relays__read_relays' },
        { id: 'off', name: 'relays__set_relay', arguments: { channel: 3, on: false } },
        { id: 'nobody', name: 'relays__open_window' },
      ],
      policy: 'partition',
      onError: 'continue',
    }),
  planBatch: () =>
    client.planBatch({
      calls: [
        { id: 'a', name: 'office_co2__read_co2' },
        { id: 'b', name: 'relays__read_relays' },
        { id: 'c', name: 'relays__toggle_relay', arguments: { channel: 1 } },
      ],
    }),
  getBatch: async () => untilDone(await startMany()),
  async cancelBatch() {
    const id = await startMany()
    await client.cancelBatch(id)
    return untilDone(id)
  },
  async cancelCall() {
    const id = await startMany()
    await client.cancelCall('s19')
    return untilDone(id)
  },
  getStop: () => client.getStop(),
  async stop() {
    const answer = await client.stop()
    await client.releaseStop()
    return answer
  },
  async releaseStop() {
    await client.stop()
    return client.releaseStop()
  },
  getConfiguration: () => client.getConfiguration(),
  checkConfiguration: () =>
    client.checkConfiguration({
      text: 'devices:\n  - { id: three, type: mh-z20, port: { path: simulated } }\n',
    }),
  async putConfiguration() {
    const { text, version } = await configuration()
    const more = `${text}  - { id: added, type: mh-z19, port: { path: simulated } }\n`
    const answer = await client.putConfiguration({ text: more }, { ifMatch: `"${version}"` })
    await client.putConfiguration({ text })
    return answer
  },
  reloadConfiguration: () => client.reloadConfiguration(),
  streamEvents: () => client.streamEvents(),
}

/** Sends half a body. @type {typeof fetch} */
const cutShort = (url, init) => (client.defaults.fetch ?? fetch)(url, { ...init, body: '{ "name": ' })

/** By the status that is asked for. @type {Record<string, () => Promise<{ status: number }>>} */
export const refused = {
  400: () => client.call({ name: 'a' }, { fetch: cutShort }),
  401: () => client.listTools({}, { headers: { authorization: 'Bearer wrong' } }),
  403: () => client.listTools({}, { headers: { origin: 'http://elsewhere.example' } }),
  404: () => client.getDevice('nobody'),
  412: () => client.putConfiguration({ text: 'devices: []\n' }, { ifMatch: '"another"' }),
  413: () => client.checkConfiguration({ text: '#'.repeat(1_100_000) }),
  415: () => client.call({ name: 'a' }, { headers: { 'content-type': 'text/plain' } }),
  // @ts-expect-error: a policy that there is not
  422: () => client.planBatch({ calls: [{ name: 'a' }], policy: 'fastest' }),
}

/**
 * Bodies that the server would refuse, and the types as well: the compiler has to find a fault in each.
 * @returns {Promise<unknown>[]}
 */
export const neverCalled = () => [
  // @ts-expect-error: without calls
  client.runBatch({}),
  // @ts-expect-error: a call without a name
  client.runBatch({ calls: [{ id: 'a' }] }),
  // @ts-expect-error: a misspelt field
  client.runBatch({ calls: [{ name: 'a', argumets: {} }] }),
  // @ts-expect-error: text for a number
  client.call({ name: 'a', deadlineMs: '5' }),
  // @ts-expect-error: arguments that have no names
  client.call({ name: 'a', arguments: 'on' }),
  // @ts-expect-error: text for a number, in a query
  client.getPortTrace('a', { last: 'all' }),
  // @ts-expect-error: no body
  client.releasePort('a'),
]

/**
 * What a result may be asked for, by its types alone.
 * @param {client.CallResult} result
 * @returns {client.Outcome | client.ErrorCode}
 */
export function whatBecame(result) {
  if (result.error?.code === 'device_busy' && result.error.retryable) return result.error.code
  // @ts-expect-error: a code that there is not
  if (result.error?.code === 'device_bussy') return 'unknown'
  return result.outcome
}
