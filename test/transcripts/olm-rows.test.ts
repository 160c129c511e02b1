import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { InstallPlan } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { csvName } from '../lib/simulator/olm/lifecycle.ts'
import { playHop, playOlm } from './olm-play.ts'
import { type Line, readOlmTranscript } from './read.ts'

const hop = { from: csvName('1.17.3'), to: csvName('1.18.1') }

async function simulatedHop(): Promise<Line[]> {
  const olm = await playOlm(okdOlm({ channel: 'stable-v1.18' }))
  await playHop(olm, hop)
  return olm.lines
}

/** The steps of the plan that installs a CSV, once it has them. */
function stepsOf(lines: readonly Line[], csv: string): Named[] {
  const plans = lines.flatMap(({ object }) => (object?.kind === 'InstallPlan' ? [object as InstallPlan] : []))
  const plan = plans.find(
    ({ spec, status }) =>
      spec?.clusterServiceVersionNames?.includes(csv) === true && status?.plan !== undefined,
  )
  return (plan?.status?.plan ?? []).map(({ resource: { kind = '', name = '' } = {} }) => ({ kind, name }))
}

interface Named {
  kind: string
  name: string
}

const rolesOf = (steps: readonly Named[]): string[] =>
  steps.flatMap(({ kind, name }) => (kind.endsWith('Role') ? [name] : []))

const hashed = /^kubevirt-hyperconverged-(?:o?-)[0-9A-Za-z]{36,38}$/

const withoutHashes = (steps: readonly Named[]): string[] =>
  steps.map(({ kind, name }) => `${kind} ${hashed.test(name) ? 'hashed' : name}`).toSorted(byText)

const byText = (a: string, b: string): number => a.localeCompare(b)

/** CSV and CRDs, and then account by account, whose order is left to chance. */
function groupsOf(steps: readonly Named[]): string[] {
  const [first = '', ...accounts] = steps
    .map(({ kind }) => kind)
    .join()
    .split(',ServiceAccount')
  return [first, ...accounts.toSorted(byText)]
}

describe('plan contents', () => {
  test('60 steps, the same as recorded: CSV, CRDs, accounts, roles under hashed names of 63 letters', async () => {
    const recorded = stepsOf(readOlmTranscript('scenarios-manual'), hop.to)
    const simulated = stepsOf(await simulatedHop(), hop.to)
    expect(recorded).toHaveLength(60)
    expect(withoutHashes(simulated)).toEqual(withoutHashes(recorded))
    expect(groupsOf(simulated)).toEqual(groupsOf(recorded))
    for (const steps of [recorded, simulated]) {
      expect(rolesOf(steps)).toHaveLength(19)
      expect(rolesOf(steps).filter((name) => !hashed.test(name) || name.length !== 63)).toEqual([])
    }
  })

  test('50 steps of a release before v1.8', async () => {
    const olm = await playOlm(okdOlm())
    const simulated = stepsOf(olm.lines, csvName('1.17.3'))
    const recorded = stepsOf(readOlmTranscript('chain-manual'), csvName('1.17.3'))
    expect(recorded).toHaveLength(50)
    expect(withoutHashes(simulated)).toEqual(withoutHashes(recorded))
  })
})

/** What stands in a test of this name holds the row. */
type Row = readonly [row: string, file: string, name: string]

const here = 'olm-rows.test.ts'

/** The rows of "Simulated OLM against the real one" and what holds each. */
const rows: readonly Row[] = [['plan contents', here, '60 steps, the same as recorded']]

test.each(rows)('%s is held by a test that is there', (_row, file, name) => {
  const text = fs.readFileSync(path.join(import.meta.dirname, file), 'utf8')
  expect(text).toContain(`'${name}`)
})
