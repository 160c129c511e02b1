import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Cluster, Reader, Ref, Where } from '../../src/lib/kube/cluster.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { readSaved } from '../../src/lib/kube/saved/saved-file.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { podsOutsideVms } from '../../src/lib/kubevirt/installed-components.ts'
import { expected } from './kubevirt/example.ts'
import { runText } from './run-text.ts'
import fixture from './incidents.json' with { type: 'json' }

const root = 'test/examples/incidents'
const columns = 120

/**
 * All that happened to people, in the order of its numbers, so that each of them is seen to be named: when it is told (before anything goes wrong, when something is
 * stuck, or that it is no trouble at all), the file of `test/examples/incidents` without `.json`, what is typed with `--from FILE`, and two patterns: of the cause in
 * words that tell it apart, and of what stands behind it: a line to type or a thing to do; where none is known, that this is said. Printed text is compared with single blanks.
 */
const { incidents } = fixture as unknown as {
  incidents: readonly (readonly [
    told: 'before' | 'when stalled' | 'harmless',
    file: string,
    line: string,
    cause: string,
    next: string,
  ])[]
}

const folders = readdirSync(root).filter((name) => /^\d\d-/u.test(name))
const filesOf = (folder: string): readonly string[] =>
  readdirSync(`${root}/${folder}`)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))

/** Everything that is run of a file. */
const linesOf = (folder: string, file: string): readonly string[] => [
  'status',
  ...incidents
    .filter(([, state, line]) => state === `${folder}/${file}` && line !== 'status')
    .map(([, , line]) => line),
]

const printed = new Map<string, Promise<string>>()

/** What a command prints of a saved incident; once for all tests. */
function printedOf(folder: string, file: string, line: string): Promise<string> {
  const key = `${folder}/${file} ${line}`
  const known = printed.get(key) ?? printNow(folder, file, line)
  printed.set(key, known)
  return known
}

const nowhere = { cluster: {} as Cluster, clock: new SimClock(), columns }

async function printNow(folder: string, file: string, line: string): Promise<string> {
  const from = `${root}/${folder}/${file}.json`
  const { code, out, err } = await runText([...line.split(' '), '--from', from], nowhere)
  // The page of a check grows with every check: what passed is no part of an incident.
  const kept = line.startsWith('check') ? `exit ${code}\n${foundLines(out)}` : out
  return `$ kvup ${line} --from ${file}.json\n${kept}${err}`
}

/** Findings with what belongs to them; neither what passed nor the counts. */
function foundLines(page: string): string {
  return page
    .replace(/^(?:\d+|no) checks? passed[^]*?(?=^(?:\d|READY|NOT READY))/mu, '')
    .replace(/^\d+ checks? needs? [^]*?\n(?=\S)/mu, '')
    .replaceAll(/^ ✔ [^]*?(?=^\S|^ \S)/gmu, '')
}

/** A cluster of a file that is alive: its leaders renew their Leases, and a container's log is what the pod is annotated with. */
async function liveCluster(folder: string, file: string): Promise<{ cluster: Cluster; clock: SimClock }> {
  const saved = await readSaved(`${root}/${folder}/${file}.json`)
  const clock = new SimClock(saved.takenAt?.toISOString())
  const reader = new Proxy(saved.reader, {
    get(target, name) {
      if (name === 'log') return async (ref: Ref) => logOf(target, ref)
      if (name === 'list')
        return async (kind: Kind, where?: Where) => {
          const items = await target.list(kind, where)
          return kind.kind === 'Lease' ? items.map((lease) => renewed(lease, clock)) : items
        }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { cluster: { ...saved, reader }, clock }
}

async function logOf(reader: Reader, ref: Ref): Promise<string> {
  const found = await reader.list(Pods, { namespace: ref.namespace, labels: podsOutsideVms })
  return found.find(({ metadata }) => metadata.name === ref.name)?.metadata.annotations?.['sim/log'] ?? ''
}

const renewed = <T extends KubeObject>(lease: T, clock: SimClock): T =>
  Object.assign(lease, {
    spec: { ...(lease as { spec?: object }).spec, renewTime: clock.now().toISOString() },
  })

const slug = (line: string): string =>
  line
    .replaceAll(/^workloads /gu, '')
    .replaceAll(/ (?:--to|-o) | --/gu, '-')
    .replaceAll(' ', '-')

describe('what kvup says of what happened to people', () => {
  const cases = folders.flatMap((folder) =>
    filesOf(folder).flatMap((file) => linesOf(folder, file).map((line) => [folder, file, line] as const)),
  )
  test.each(cases)('%s/%s: %s', async (folder, file, line) => {
    const text = await printedOf(folder, file, line)
    expect(text).toBe(expected(`incidents/${folder}`, `${file}.${slug(line)}.txt`, text))
  })
})

describe('the cause is named, and behind it what helps', () => {
  test.each(incidents)('%s: %s: %s', async (...[, file, line, cause, next]) => {
    const [folder = '', state = ''] = file.split('/')
    // Lines are wrapped anywhere.
    const text = (await printedOf(folder, state, line)).replaceAll(/\s+/gu, ' ')
    expect(text).toMatch(new RegExp(cause, 'u'))
    expect(text.slice(text.search(new RegExp(cause, 'u')))).toMatch(new RegExp(next, 'u'))
  })
})

const numberOf = (name: string): string => name.slice(0, 2)

test('every incident has a row, and one alone is harmless', () => {
  const rows = Map.groupBy(incidents, ([, file]) => numberOf(file))
  expect([...rows.keys()]).toEqual(folders.map(numberOf))
  expect(folders).toHaveLength(26)
  const harmless = incidents.filter(([told]) => told === 'harmless').map(([, file]) => numberOf(file))
  expect([...new Set(harmless)]).toEqual(['22'])
})

/** Of the way by HyperConverged nothing is offered that brings v1.9: what v1.9 unplugs is named there all the same once it is. */
test('14-hco-4381: HyperConverged, which offers no way there', async () => {
  const text = await printNow('14-hco-4381', 'okd', 'check --to v1.9.0')
  expect(text).toContain('\nexit 3\n')
  expect(text.replaceAll(/\s+/gu, ' ')).toMatch(/no HyperConverged is known to bring KubeVirt v1\.9\.0/u)
})

test.each([
  [
    '16-kubevirt-16261',
    /last log line: "error: Unable to query peer security context: Invalid argument".*kernel without SELinux/u,
  ],
  [
    '17-kubevirt-14318',
    /last log line: "panic: runtime error.*panic in cellToCell.*Next: kvup upgrade --to v1\.5\.1/u,
  ],
])('%s: where the log may be read it is quoted, and what it means is known', async (folder, says) => {
  const { out } = await runText(['status'], { ...(await liveCluster(folder, 'cluster')), columns })
  const text = out.replaceAll(/\s+/gu, ' ')
  expect(text).toMatch(says)
  expect(text).not.toContain('its log was not read')
})
