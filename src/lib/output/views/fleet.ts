import type { FleetRow } from '../../fleet/fleet-rows.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { someOf } from '../../kube/text.ts'
import { element, escaped, xmlFile } from '../formats/junit.ts'
import { fleetText, stateWords } from './fleet-words.ts'
import type { Column, Document, Paint, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { brief, helpLine, wrap } from '../text.ts'

export interface FleetStatusDocument extends Document {
  kind: 'FleetStatus'
  /** RFC 3339. */
  takenAt: string
  /** The worst first. */
  items: readonly FleetRow[]
}

const markOf: Readonly<Partial<Record<Tone, keyof Paint['mark']>>> = {
  bad: 'failed',
  warn: 'warning',
  strong: 'running',
  good: 'done',
}

const columns = ({ mark }: Pick<Paint, 'mark'>): readonly Column<FleetRow>[] => [
  {
    name: 'STATE',
    cell: ({ state }) => `${mark[markOf[stateWords[state][1]] ?? 'dot']} ${stateWords[state][0]}`,
    tone: ({ state }) => stateWords[state][1],
  },
  { name: 'CLUSTER', cell: ({ name }) => name },
  {
    name: 'VERSION',
    cell: ({ version, target }) => (target === undefined ? version : `${version ?? '?'} → ${target}`),
  },
  { name: 'VMS', cell: ({ vms }) => vms },
  { name: 'OUTDATED', cell: ({ outdated }) => outdated },
  { name: 'SERVER', cell: ({ server }) => server, wide: true },
  { name: 'UID', cell: ({ uid }) => uid, wide: true },
  { name: 'WHY', holds: 'text', cell: ({ why }) => (why === undefined ? '-' : brief(why)) },
  { name: 'NEXT', holds: 'command', cell: ({ next }) => next ?? '-', wide: true },
]

/** A line per cluster, the worst first, below what all of them come to. */
export const fleetStatusView: View<FleetStatusDocument> = {
  text({ items }, paint, size) {
    const [worst] = items
    const tone = worst === undefined ? 'dim' : stateWords[worst.state][1]
    return [
      ...wrap(paint[tone](fleetText(items)), size.columns),
      '',
      ...table(columns(paint), items, { ...size, paint }),
      ...sameClusterLines(items, size.columns),
      ...nextLines(items, paint, size.columns),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `cluster/${name}`),
  formats: {
    junit: ({ items }) =>
      suites(
        'kvup fleet status',
        items.map((row) => {
          const [word, tone] = stateWords[row.state]
          return {
            suite: row.name,
            test: 'status',
            ...(tone === 'bad' && { failed: row.why ?? word, reason: row.error?.reason ?? row.state }),
          }
        }),
      ),
  },
}

/** Which contexts were passed over, being of a cluster that another one names. */
export function sameClusterLines(items: readonly Pick<FleetRow, 'name' | 'also'>[], width: number): string[] {
  return items.flatMap(({ name, also = [] }) =>
    also.length === 0
      ? []
      : wrap(
          `${someOf(also)} ${also.length === 1 ? 'is a context' : 'are contexts'} of the same cluster as ${name}: looked at once`,
          width,
        ),
  )
}

/** Of the worst that has one. */
function nextLines(items: readonly FleetRow[], paint: Paint, width: number): string[] {
  const row = items.find(({ state, error }) => state !== 'Healthy' || error !== undefined)
  if (row === undefined) return []
  const { context, kubeconfig, name } = row
  const where = [...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]), '--context', context]
  return wrap(helpLine(`kvup status ${where.map(shellWord).join(' ')}     # shows ${name}`, paint), width)
}

/** A cluster, what was done there, and how that failed where it did. */
export interface SuiteCase {
  suite: string
  test: string
  seconds?: number
  failed?: string
  reason?: string
  skipped?: string
}

/** JUnit with a suite per cluster. */
export function suites(command: string, given: readonly SuiteCase[]): string {
  // A line of its own could be a command to who reads the log.
  const cases = given.map((one) => Object.assign({}, one, { suite: one.suite.replaceAll(/\s+/gu, ' ') }))
  const names = [...new Set(cases.map(({ suite }) => suite))]
  const countsOf = (some: readonly SuiteCase[]) => ({
    tests: some.length,
    failures: some.filter(({ failed }) => failed !== undefined).length,
    errors: 0,
  })
  const caseOf = ({ suite, test, seconds = 0, failed, reason = 'failed', skipped }: SuiteCase) =>
    element('testcase', { name: test, classname: suite, time: seconds.toFixed(3) }, [
      ...(failed === undefined
        ? []
        : [element('failure', { message: failed, type: reason }, [escaped(failed)])]),
      ...(skipped === undefined ? [] : [element('skipped', { message: skipped })]),
    ])
  return xmlFile(
    element(
      'testsuites',
      { name: command, ...countsOf(cases) },
      names.map((name) => {
        const own = cases.filter(({ suite }) => suite === name)
        return element('testsuite', { name, ...countsOf(own) }, own.map(caseOf))
      }),
    ),
  )
}
