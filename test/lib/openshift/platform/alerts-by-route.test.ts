import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { program } from '../../../../src/cli.ts'
import { type Reader, readerWith, type RouteCall } from '../../../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { alertsByRoute } from '../../../../src/lib/openshift/firing-alerts.ts'
import { clusterOf, layered } from '../../checks/check-example.ts'
import { runText } from '../../run-text.ts'

const domain = 'apps.example.com'
const host = `thanos-querier-openshift-monitoring.${domain}`
const body = (name: string) =>
  JSON.stringify({
    data: { alerts: [{ state: 'firing', labels: { alertname: name, severity: 'critical' } }] },
  })

interface Ingress {
  domain?: string | undefined
  host?: string
  /** Of the Route, besides. */
  spec?: object
  status?: object
  /** What the Route answers. */
  text?: string
  why?: string
}

/** The cluster with all layers, of which the Route answers. `calls` are those to it. */
function place(ingress: Ingress = {}) {
  const { domain: own = domain, host: at = host, text = body('etcdMembersDown'), why } = ingress
  const { cluster, clock } = clusterOf({ ...layered, alerts: 'unasked' })
  const calls: RouteCall[] = []
  const objects: Readonly<Record<string, object>> = {
    ingresses: { spec: { domain: own } },
    routes: {
      spec: { host: at, to: { kind: 'Service', name: 'thanos-querier' }, ...ingress.spec },
      status: {
        ingress: [{ host: at, conditions: [{ type: 'Admitted', status: 'True' }] }],
        ...ingress.status,
      },
    },
    configmaps: { data: { 'ca-bundle.crt': 'PEM' } },
  }
  const mine = new Set(['cluster', 'thanos-querier', 'default-ingress-cert'])
  const get: Reader['get'] = async (kind, ref) => {
    const object = mine.has(ref.name) ? objects[kind.plural] : undefined
    return object ? { is: 'object', object: object as never } : cluster.reader.get(kind, ref)
  }
  const askRoute: Reader['askRoute'] = async (call) => {
    calls.push(call)
    return why === undefined ? { text } : { why }
  }
  return { cluster: { ...cluster, reader: readerWith(cluster.reader, { get, askRoute }) }, clock, calls }
}

test('the one Route below the own domain is asked, and its alerts are known', async () => {
  const { cluster, calls } = place()
  const alerts = await alertsByRoute(cluster.reader)
  expect(alerts).toEqual({ known: true, items: [{ name: 'etcdMembersDown', severity: 'critical' }] })
  expect(calls).toEqual([{ host, path: '/api/v1/alerts', authorities: ['PEM'] }])
})

test.each([
  ['a Route of another domain', { host: 'thanos.evil.example' }, 'not below the cluster'],
  ['one that only ends like it', { host: `evil${domain}` }, 'not below the cluster'],
  ['no host name', { host: `a/b.${domain}` }, 'not below the cluster'],
  ['no domain', { domain: '' }, 'the cluster names no ingress domain'],
  ['one that leads to another Service', { spec: { to: { name: 'mine' } } }, 'does not lead to Service'],
  [
    'one that leads to others as well',
    { spec: { alternateBackends: [{ name: 'mine' }] } },
    'does not lead to',
  ],
  ['a host that no router has given to it', { status: { ingress: [] } }, 'another host may answer there'],
  [
    'a host that another Route had first',
    { status: { ingress: [{ host, conditions: [{ type: 'Admitted', status: 'False' }] }] } },
    'another host may answer there',
  ],
] as const)('%s is not asked', async (_, ingress, why) => {
  const { cluster, calls } = place(ingress)
  const alerts = await alertsByRoute(cluster.reader)
  expect(alerts).toMatchObject({ known: false, why: expect.stringContaining(why) as string })
  expect(calls).toEqual([])
})

test('a page, and what is no answer of Prometheus, are not "none fires"', async () => {
  const page = await alertsByRoute(place({ text: '<html>log in</html>' }).cluster.reader)
  expect(page).toMatchObject({ why: expect.stringContaining('the Route answered HTML') as string })
  const other = await alertsByRoute(place({ text: '{}' }).cluster.reader)
  expect(other.known).toBe(false)
})

interface Item {
  id: string
  is: string
  findings: { summary: string }[]
}

async function alertsIn(words: string, at: ReturnType<typeof place>, more: object = {}) {
  const { out } = await runText(words.split(' '), { ...at, ...more })
  const { items } = JSON.parse(out) as { items: Item[] } & KubeObject
  return items.find(({ id }) => id === 'alerts-firing')
}

test('kvup check asks by the Route with --alerts=route, and never unasked', async () => {
  const asked = place()
  const found = await alertsIn('check --alerts=route -o json', asked)
  expect([found?.is, found?.findings[0]?.summary]).toEqual([
    'found',
    'a critical alert is firing: etcdMembersDown',
  ])
  const unasked = place()
  expect((await alertsIn('check -o json', unasked))?.is).toBe('not-checked')
  expect(unasked.calls).toEqual([])
})

/** Every command that reads a cluster once and changes nothing: those have no --dry-run. */
const reading = (await leavesOf()).flatMap((path) =>
  /^(?:demo|rehearse|fleet|job|completion|help|wait|__\w+|config)\b/u.test(path)
    ? []
    : [path, `${path} --to v1.8.4`],
)

async function leavesOf(): Promise<readonly string[]> {
  const within = (command: Command, path: string): string[] =>
    command.commands.length > 0
      ? command.commands.flatMap((one) =>
          one.name() === '__complete' ? [] : within(one, `${path} ${one.name()}`),
        )
      : command.options.some(({ long }) => long === '--dry-run')
        ? []
        : [path.trim()]
  return within(await program('kvup', () => async () => undefined, 'all'), '')
}

test.each(reading)('a command that only reads asks nobody, and sends no token: %s', async (line) => {
  const asked: string[] = []
  const at = rolling()
  await runText(line.split(' '), { ...at, decide: (question) => asked.push(question) > 0 })
  expect([asked, at.calls]).toEqual([[], []])
})

test('--alerts=route is offered where its Route is there and was not asked, and nowhere else', async () => {
  const offers = async (line: string, at: ReturnType<typeof place>) => {
    const { out, err } = await runText(line.split(' '), at)
    return /--alerts=route/u.test(out + err)
  }
  const bare = place()
  const { reader } = bare.cluster
  const get: Reader['get'] = async (kind, ref) =>
    kind.plural === 'routes' ? { is: 'absent' } : reader.get(kind, ref)
  const without = { ...bare, cluster: { ...bare.cluster, reader: readerWith(reader, { get }) } }
  for (const line of [
    'check',
    'check --all',
    'check --to v1.8.4',
    'status',
    'status -o wide',
    'check -o json',
  ])
    expect([line, await offers(line, without)]).toEqual([line, false])
  expect(await offers('check', place())).toBe(true)
  expect(await offers('check --alerts=route', place({ why: 'no' }))).toBe(false)
})

test('what the Route refuses is said, and is no pass', async () => {
  const found = await alertsIn('check --alerts=route -o json', place({ why: 'this login has no token' }))
  expect(found?.is).toBe('not-checked')
  expect(found?.findings[0]?.summary).toContain('this login has no token')
})

interface Shown extends KubeObject {
  platform: { alerts?: object[]; alertsNotChecked?: string; findings: { summary: string }[] }
}

const statusOf = async (words: string, at: ReturnType<typeof place>, more: object = {}) =>
  JSON.parse((await runText(`${words} -o json`.split(' '), { ...at, ...more })).out) as Shown

/** The same cluster, of which a pool has something to do. */
function rolling() {
  const at = place()
  const { reader } = at.cluster
  const list: Reader['list'] = async (kind, where) => {
    const found = await reader.list(kind, where)
    if (kind.plural !== 'machineconfigpools') return found
    return found.map((one) =>
      Object.assign({}, one, { spec: { ...('spec' in one ? (one.spec as object) : {}), paused: true } }),
    )
  }
  return { ...at, cluster: { ...at.cluster, reader: readerWith(reader, { list }) } }
}

describe('kvup status', () => {
  test('asks by the Route with --alerts=route, and never unasked', async () => {
    const asked = place()
    const { platform } = await statusOf('status --alerts=route', asked)
    expect(platform.alerts).toEqual([{ name: 'etcdMembersDown', severity: 'critical' }])
    expect(platform.findings.map(({ summary }) => summary)).toContain('alert etcdMembersDown fires')
    expect(asked.calls).toHaveLength(1)
    const { out } = await runText(['status', '--alerts=route'], place())
    expect(out).toContain('critical alerts fire: etcdMembersDown')
    for (const [at, why] of [
      [place(), undefined],
      [rolling(), 'kvup status --alerts=route asks Prometheus, and sends it your token'],
    ] as const) {
      const { platform: unasked } = await statusOf('status', at)
      expect([unasked.alerts, unasked.alertsNotChecked, at.calls]).toEqual([undefined, why, []])
    }
  })

  test('what the Route refuses is said, and is no "none fires"', async () => {
    const { platform } = await statusOf('status --alerts=route', place({ why: 'this login has no token' }))
    expect(platform).not.toHaveProperty('alerts')
    expect(platform.alertsNotChecked).toContain('this login has no token')
    const { out } = await runText(['status', '--alerts=route'], place({ why: 'this login has no token' }))
    expect(out).toContain('alerts not checked: this login has no token')
  })

  test.each([
    ['a pool has something to do', rolling],
    ['all is at rest', place],
  ] as const)('asks nobody on a terminal, and sends no token: %s', async (_what, where) => {
    const asked: string[] = []
    const at = where()
    await statusOf('status', at, { decide: (question: string) => asked.push(question) > 0 })
    expect([asked.length, at.calls.length]).toEqual([0, 0])
  })
})

const withRunbook = (name: string, runbook: string) => ({
  state: 'firing',
  activeAt: '2026-11-20T11:40:00.5Z',
  labels: { alertname: name, severity: 'warning', openShiftUpdatePrecheck: 'true' },
  annotations: { runbook_url: runbook },
})

test('an alert carries since when, and a runbook only of the platform and KubeVirt', async () => {
  const own = 'https://github.com/openshift/runbooks/blob/master/alerts/etcdNoLeader.md'
  const text = JSON.stringify({
    data: {
      alerts: [
        withRunbook('Own', own),
        withRunbook('Other', 'https://evil.example/runbook.md'),
        withRunbook('Like', 'https://github.com/openshift/x?y=\u001b[31m'),
      ],
    },
  })
  const alerts = await alertsByRoute(place({ text }).cluster.reader)
  const usual = { severity: 'warning', since: '2026-11-20T11:40:00.5Z', beforeUpdates: true }
  expect(alerts).toEqual({
    known: true,
    items: [
      { ...usual, name: 'Own', runbook: own },
      { ...usual, name: 'Other' },
      { ...usual, name: 'Like' },
    ],
  })
})
