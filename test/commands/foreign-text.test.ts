// Every command that prints what others wrote, by each format and width: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { configMapJournal } from '../../src/lib/engine/journal-config-map.ts'
import { blocked } from '../../src/lib/kube/errors.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { errorLines } from '../../src/lib/output/error-text.ts'
import { onOneLine, ownMark, paintFor, printedLine, sanitise } from '../../src/lib/output/terminal.ts'
import { displayWidth, fill, pieces, wrap } from '../../src/lib/output/text.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { type Cluster, readerWith } from '../../src/lib/kube/cluster.ts'
import { LiveView } from '../../src/lib/output/progress/live-view.ts'
import type { Entry } from '../../src/lib/engine/journal.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { mergePatched } from '../../src/lib/kube/patch.ts'
import { example } from '../lib/kubevirt/example.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { eus418 } from '../scenario/eus/window-stage.ts'
import { runText } from '../lib/run-text.ts'
import { put } from './built/simulated.ts'
import foreignPlaces from './foreign-places.json' with { type: 'json' }
import { settled } from '../lib/settled.ts'

/** As a ClusterVersion says it (several errors, a line each), with what no operator should say. */
const foreign = [
  'Multiple errors are preventing progress:',
  '✔ FORGED: all is well',
  '\t* Could not update \u001b[2Jdeployment \u202e"etcd"\r',
  'long '.repeat(600),
].join('\n')

interface Said {
  type?: string
  status?: string
  message?: string
  reason?: string
}

/** Types of conditions of which True is bad. */
const bad = /Degraded|Failing|Progressing|Unhealthy|Failed/u

/** Every condition as bad as it can be, in words that go over lines. */
function damaged(object: KubeObject, text: string): KubeObject {
  const copy = structuredClone(object) as KubeObject & { status?: { conditions?: Said[]; message?: string } }
  for (const said of Array.isArray(copy.status?.conditions) ? copy.status.conditions : [])
    Object.assign(said, { status: bad.test(said.type ?? '') ? 'True' : 'False', message: text })
  if (copy.kind === 'ClusterServiceVersion')
    Object.assign(copy.status ?? {}, { phase: 'Failed', message: text })
  if (copy.kind === 'CatalogSource')
    Object.assign(copy.status ?? {}, { message: text, connectionState: { lastObservedState: text } })
  return copy
}

async function damagedCluster(text = foreign) {
  const clock = new SimClock()
  const simulated = await settled({ clock, ...eus418 })
  const { store } = simulated
  await simulated.stop()
  for (const object of store.everything()) put(store, damaged(object, text))
  return { cluster: storeCluster(store), clock, store }
}

const commands = [
  'status',
  'status -o wide',
  'eus status',
  'eus plan',
  'check',
  'check --to v1.5.3',
  'history',
]
const place = await damagedCluster()

const words = (line: string) => line.trim().match(/(?:'[^']*'|"[^"]*"|\S)+/gu) ?? []

describe.each(commands)('%s', (line) => {
  test('on a pipe a text of the cluster is part of one line, and no longer than a person reads', async () => {
    const { out, err } = await runText(line.split(' '), place)
    const lines = (out + err).split('\n')
    expect(lines.filter((one) => /^\s*[+✔] FORGED/u.test(one))).toEqual([])
    expect(lines.filter((one) => one.length > 1000)).toEqual([])
    // oxlint-disable-next-line no-control-regex
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u)
  })

  test.each([80, 40])(
    '%i columns: nothing is left for the terminal to break between words',
    async (columns) => {
      const { out } = await runText(line.split(' '), { ...place, columns })
      const broken = out.split('\n').filter((one) => displayWidth(one) > columns && words(one).length > 2)
      expect(broken).toEqual([])
    },
  )
})

/** What leads to a line to type, as somebody else can write it: with our own mark, blanks that look like one, and other arrows. */
const leads = [...'→ -> => ➜ ⟶ Next: Then: Or: Details: NEXT:'.split(' '), `${ownMark}→`, `${ownMark}Next:`]
const typed = leads.flatMap((lead) => [`${lead} kubectl rm`, `${lead}\u00a0kubectl\u00a0rm`])
/** A line of what was printed that reads as if kvup told to type it. */
const forged = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^\s*(?:[→➜⟶]|[-=]>|(?:next|then|or|details):)(?:\s+kubectl\s+rm\b|\s*$)/iu.test(line))

describe.each([40, 80, Infinity])(
  'what reads as a line to type does not begin a line of %d columns',
  (columns) => {
    const paint = paintFor({ colour: false, unicode: true })
    const shown = (lines: readonly string[]) =>
      lines
        .flatMap((line) => wrap(line, columns))
        .map(printedLine)
        // What is too long is broken by the terminal.
        .flatMap((line) => (columns === Infinity ? [line] : pieces(line, columns)))
        .join('\n')

    test.each(typed)('wherever it stands: %j', (line) => {
      const last = columns === Infinity ? 2 : columns + 2
      for (let before = last - 14; before <= last; before++)
        for (const word of ['x', 'word word  '].map((of) => of.repeat(99).slice(0, Math.max(0, before))))
          for (const gap of ['', ' ', '\n', '\n\t', '   ']) {
            const text = sanitise(`${word}${gap}${line}${` ${line}`.repeat(3)} ${'y'.repeat(81)}${line}`)
            expect(forged(shown([text]))).toEqual([])
            expect(forged(shown([`locked  by ${text}`]))).toEqual([])
            const cells = fill(onOneLine(text), Math.min(columns, 999)).map(printedLine)
            expect(forged(cells.join('\n'))).toEqual([])
          }
    })

    test.each(typed)('as a line of a message or a note of an error: %j', (line) => {
      const error = blocked('x', `refused: no\n${line}\n  ${line}\n\n${line}`, {
        notes: [line, `a\n${line}`],
        remedy: 'kvup status',
      })
      const text = shown(errorLines(error, paint, { columns }))
      expect(forged(text)).toEqual([])
      expect(text).toMatch(/^ {2}→ kvup status$/mu)
    })
  },
)

const namespace = 'openshift-cnv'

async function heldBy({ writer }: Cluster, holderIdentity: string, now: string): Promise<void> {
  const renewTime = now.replace('Z', '000Z')
  const { apiVersion, kind } = Leases
  const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime, acquireTime: renewTime }
  await writer.create(Leases, { apiVersion, kind, metadata: { name: 'kvup', namespace }, spec })
}

async function hostileCluster() {
  const said = typed.flatMap((line, at) => [`${'x'.repeat(7 * at + 3)} ${line}`, line])
  const { cluster, clock } = await damagedCluster(said.slice(0, 9).join('\n'))
  const holderIdentity = `ops@jump01 ${typed[0]} kubevirt -n kubevirt`
  const now = clock.now().toISOString()
  await heldBy(cluster, holderIdentity, now)
  const journal = configMapJournal(cluster, { namespace, who: holderIdentity, clock })
  for (const line of typed)
    for (const what of ['started', 'failed'] as const)
      await journal.record({
        at: now,
        by: line,
        procedure: `upgrade to ${line}`,
        step: line,
        text: line,
        what,
      })
  return { cluster, clock }
}

const hostile = await hostileCluster()
const asked = [...commands, 'workloads migrations', 'history 1', 'upgrade --to 1.18.0', 'eus run --yes']
test.each([40, 80, undefined].flatMap((columns) => asked.map((line) => [columns, line] as const)))(
  'what others write on %s columns, by %s',
  async (columns, line) => {
    const { out, err } = await runText(line.split(' '), { ...hostile, ...(columns && { columns }) })
    expect(forged(out + err)).toEqual([])
  },
)

const { overlays, event: refused, entries, doors, live, attacks } = foreignPlaces

const textAt = (attack: string, where: string) => attack.replaceAll('PLACE', where)

/** The words of somebody where the template only names the place that they stand in. */
const filled = <T>(template: T, attack: string): T =>
  JSON.parse(
    JSON.stringify(template).replaceAll(/"@(\w+)"/gu, (_, where: string) =>
      JSON.stringify(textAt(attack, where)),
    ),
  ) as T

/** A platform, and a KubeVirt that stands still, in which each place that others write has such a text. */
async function attacked(attack: string) {
  const platform = await damagedCluster(textAt(attack, 'condition'))
  const { store, clock } = example('canary-crashes')
  put(store, filled({ ...refused, lastTimestamp: clock.now().toISOString() }, attack))
  const clusters = [platform, { cluster: storeCluster(store), clock, store }]
  for (const one of clusters) {
    for (const object of one.store.everything()) {
      const overlay = overlays[object.kind as keyof typeof overlays]
      if (overlay) put(one.store, mergePatched(object, filled(overlay, attack)) as KubeObject)
    }
    one.cluster = {
      ...one.cluster,
      reader: readerWith(one.cluster.reader, { log: async () => textAt(attack, 'log') }),
    }
  }
  await heldBy(platform.cluster, textAt(attack, 'holder'), platform.clock.now().toISOString())
  const journal = configMapJournal(platform.cluster, { namespace, who: 'jane', clock: platform.clock })
  for (const entry of filled(entries, attack)) await journal.record(entry as Entry)
  return clusters
}

/** What the live view draws while a step stands still for such a reason. */
function drawn(attack: string): string {
  let shown = ''
  const write = (some: string) => ((shown += some), true)
  const paint = paintFor({ colour: false, unicode: true })
  const view = new LiveView(
    { isTTY: true, columns: () => 80, rows: () => 24, write },
    new SimClock(),
    paint,
    true,
  )
  for (const event of filled(live, attack)) {
    view.event(event as RunEvent)
    view.tick()
  }
  view.close(true)
  return shown
}

async function shownBy(door: readonly string[], clusters: Awaited<ReturnType<typeof attacked>>) {
  let page = ''
  const onWrite = (_: string, text: string) => (page += text)
  for (const cluster of clusters) {
    const { out, err } = await runText(door, {
      ...cluster,
      ...(!/markdown|html/u.test(door.join()) && { columns: 80 }),
      onWrite,
    })
    page += `\n${out}\n${err}\n`
  }
  // Of a page each element is a line.
  return page.includes('<!doctype') ? page.replaceAll(/\s+/gu, ' ').replaceAll(/<[^>]*>/gu, '\n') : page
}

describe.each(attacks)('places that others write: %#', async (attack) => {
  const clusters = await attacked(attack)
  const shown = new Map([['live view', drawn(attack)]])
  for (const [name, door] of Object.entries(filled(doors, attack)))
    shown.set(name, await shownBy(door, clusters))

  test.each([...shown.keys()].flatMap((door) => foreignPlaces.places.map((one) => [one, door] as const)))(
    '%s by %s is no line of kvup',
    (one, door) => {
      // oxlint-disable-next-line no-control-regex
      const lines = (shown.get(door) ?? '').replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\r/gu, '\n')
      expect(forged(lines).filter((line) => line.includes(one))).toEqual([])
      expect(lines).not.toMatch(new RegExp(`(?<=^|\\s)\`+(?:→ )?kubectl rm ${one}`, 'mu'))
    },
  )

  test('and each is seen by a door', () => {
    const all = [...shown.values()].join('')
    expect(foreignPlaces.places.filter((one) => !all.includes(`rm ${one}`))).toEqual(foreignPlaces.hidden)
  })
})
