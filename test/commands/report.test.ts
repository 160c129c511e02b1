import { expect, test } from 'vitest'
import { program } from '../../src/cli.ts'
import { entries, type Entry } from '../../src/commands/entries.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { reported, sourceOf } from '../lib/output/report/recorded.ts'
import { type Place, runText } from '../lib/run-text.ts'

const every = (list: readonly Entry[], above = ''): readonly (readonly [string, Entry])[] =>
  list.flatMap((entry) => [
    [`${above}${entry.name}`, entry] as const,
    ...every(entry.under ?? [], `${above}${entry.name} `),
  ])

const run = async (line: string, place: Place) => runText(line.split(' '), place)

test('every assessment, plan and run is a page and a ticket; each has a name for people', async () => {
  const made = every(entries).filter(([, { formats = [] }]) => formats.includes('html'))
  expect(made.map(([name]) => name)).toEqual([
    'check',
    'plan',
    'rehearse',
    'upgrade',
    'workloads update',
    'workloads restart',
    'eus plan',
    'eus run',
    'eus abort',
    'fleet status',
    'fleet check',
    'fleet plan',
    'history',
    'demo',
  ])
  for (const [name, { kind, formats = [] }] of made) {
    const title = kind === undefined ? '' : reported(sourceOf({ kind, status: 'failed' })).title
    expect([name, formats, title]).toEqual([
      name,
      expect.arrayContaining(['markdown']),
      expect.not.stringMatching(/^[A-Z][a-z]+[A-Z]\w*$/u),
    ])
  }
  // Every command is there to be loaded.
  const tree = await program('kvup', () => async () => undefined, 'all')
  expect(tree.commands.find((one) => one.name() === 'history')?.helpInformation()).toContain('history')
})

test('a run is a page with its times; the journal has one of it afterwards, the last without a number', async () => {
  const clock = new SimClock()
  const sim = await simulate({ clock, version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  const place = { cluster: sim.cluster(), clock }
  try {
    expect(await run('history -o html', place)).toMatchObject({
      code: 2,
      out: expect.stringContaining('Failed: no run is recorded: the journal is empty') as string,
      err: expect.stringContaining('the journal is empty') as string,
    })
    const check = await run('check --to v1.8.4 -o html', place)
    expect(check.out).toMatch(/^<!doctype html>[\s\S]*READY for v1\.8\.4/u)
    const page = await run('upgrade --to v1.8.4 --method image-tag --yes -o html', place)
    expect(page.code).toBe(0)
    expect(page.out).toMatch(/^<!doctype html>[\s\S]*KubeVirt v1\.7\.4 → v1\.8\.4 in [\s\S]*<svg/u)
    expect(page.out).toContain('Nodes and pods')
    const ticket = await run('history -o markdown', place)
    expect(ticket.out).toContain('# KubeVirt, run 1: v1.7.4 → v1.8.4')
    expect(ticket.out).toContain('from v1.7.4 to v1.8.4')
    expect(await run('history 1 -o markdown', place)).toEqual(ticket)
    const none = await run('history 7 -o html', place)
    expect(none).toMatchObject({ code: 2 })
    expect(none.err).toContain('no run 7 is recorded')
    expect(none.out).toContain('Failed: no run 7 is recorded')
    const from = await run('upgrade --to v1.8.4 --method image-tag --yes -o html', place)
    expect(from.out).toContain('Nothing to do.')
  } finally {
    await sim.stop()
  }
})

test('hosts are left out of it but with --full', async () => {
  const cluster = {
    address: { server: 'https://api.ocp.acme.bank:6443' },
    reader: { list: () => Promise.reject(new Error('no answer of api.ocp.acme.bank')) },
  } as unknown as Place['cluster']
  const place = { cluster, clock: new SimClock() }
  for (const [flags, isNamed] of [
    ['', false],
    [' --full', true],
  ] as const) {
    const { out } = await run(`check -o html${flags}`, place)
    expect([flags, out.includes('acme.bank')]).toEqual([flags, isNamed])
  }
})

test('a plan for review names its registry and its cluster; a page has no line to type with a stand-in in it', async () => {
  const clock = new SimClock()
  const sim = await simulate({ clock, version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  const place = { cluster: sim.cluster(), clock }
  const line = `plan --to v1.8.4 --method image-tag --image-registry images.acme.example/kubevirt --context prod.acme.example`
  const review = await run(`${line} -o markdown`, place)
  const page = await run(`${line} -o html`, place)
  await sim.stop()
  expect(review.out).toContain('images.acme.example/kubevirt')
  expect(`${review.out}${page.out}`).not.toMatch(/(?:kvup|kubectl|oc|virtctl) [^\n<]*host-\d/u)
  expect(page.out).not.toContain('acme.example')
})
