import { describe, expect, it } from 'vitest'
import { HostGuard, hostName } from '../../../src/transport/http/host-guard.ts'
import { Problem } from '../../../src/transport/http/problem.ts'

const guard = new HostGuard({
  allowedHosts: ['gateway.home.arpa', '192.0.2.7', '[2001:DB8::1]'],
  allowedOrigins: ['https://dash.example:8443', 'app://homeagent'],
  bound: () => '10.0.0.5',
})

function kindOf(host: string | undefined, origin?: string, arrivedAt?: string): string {
  try {
    guard.check(host, origin, arrivedAt)
    return 'allowed'
  } catch (problem) {
    if (problem instanceof Problem) return problem.kind
    throw problem
  }
}

describe('the check of the Host', () => {
  it.each([
    'localhost',
    'localhost:7373',
    'LOCALHOST.',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:7373',
    '[0:0:0:0:0:0:0:1]:7373',
    'gateway.home.arpa',
    'Gateway.Home.Arpa:9000',
    '192.0.2.7',
    '[2001:db8:0::1]:7373',
    '10.0.0.5:7373',
  ])('lets %s in', (host) => {
    expect(kindOf(host)).toBe('allowed')
  })

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'evil-localhost',
    'evil.example@localhost',
    'localhost:7373:1',
    'localhost/',
    'localhost evil',
    '[::1',
    '::2',
    '10.0.0.6',
    '0.0.0.0',
  ])('refuses %s', (host) => {
    expect(kindOf(host)).toBe('host-not-allowed')
  })

  it('lets the address in that the connection came to, in both of its spellings', () => {
    expect(kindOf('192.168.1.9:7373', undefined, '192.168.1.9')).toBe('allowed')
    expect(kindOf('192.168.1.9:7373', undefined, '::ffff:192.168.1.9')).toBe('allowed')
    expect(kindOf('[fe80::1]', undefined, 'fe80::1%eth0')).toBe('allowed')
    expect(kindOf('192.168.1.8', undefined, '192.168.1.9')).toBe('host-not-allowed')
  })

  it('knows the bound address only once there is one', () => {
    const early = new HostGuard({ allowedHosts: [], allowedOrigins: [], bound: () => undefined })
    expect(() => early.check('undefined', undefined, undefined)).toThrow(Problem)
  })
})

describe('the check of the Origin', () => {
  it.each([
    'http://localhost:3000',
    'http://127.0.0.1',
    'https://gateway.home.arpa',
    'https://dash.example:8443',
    'https://dash.example',
    'app://homeagent',
  ])('lets %s in', (origin) => {
    expect(kindOf('localhost', origin)).toBe('allowed')
  })

  it.each([
    'null',
    '',
    'https://evil.example',
    'http://dash.example',
    'https://dash.example.evil.example',
    'https://evil.example/localhost',
    'chrome-extension://localhost',
    'http://localhost, http://localhost',
    'file://',
  ])('refuses %j', (origin) => {
    expect(kindOf('localhost', origin)).toBe('origin-not-allowed')
  })
})

describe('a host name', () => {
  it.each([
    ['A.Example.:80', 'a.example'],
    ['::1', '::1'],
    ['[::FFFF]', '::ffff'],
    ['[not-an-address]', undefined],
    ['a b', undefined],
  ])('of %s is %s', (host, name) => {
    expect(hostName(host)).toBe(name)
  })
})
