import { expect, test } from 'vitest'
import type { InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { OlmPart } from '../../../../src/lib/upgrade/methods/olm-plan.ts'
import type { OperatorRollSnapshot } from '../../../../src/lib/upgrade/methods/operator-manifest.ts'
import { rollbackHint } from '../../../../src/lib/upgrade/methods/install-plan-approval.ts'
import fixture from './way-out.json' with { type: 'json' }

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const subscription = { namespace: 'hco', name: 'hco-operatorhub', uid: 'u' }
const apiVersion = 'operators.coreos.com/v1alpha1'
const part = fixture.part as unknown as OlmPart

interface Left {
  channel?: string
  installed?: string
  plan?: { names: string[]; approved: boolean; phase?: string }
}

function scene({ channel = 'stable-v1.17', installed = '1.17.3', plan }: Left): OperatorRollSnapshot {
  const installPlan: InstallPlan | undefined = plan && {
    apiVersion,
    kind: 'InstallPlan',
    metadata: { name: 'install-abc', namespace: 'hco' },
    spec: { approved: plan.approved, clusterServiceVersionNames: plan.names.map(csv) },
    status: { phase: plan.phase ?? 'RequiresApproval' },
  }
  return {
    subscription: {
      apiVersion,
      kind: 'Subscription',
      metadata: subscription,
      spec: { channel },
      status: { installedCSV: csv(installed) },
    },
    csvs: [],
    ...(installPlan && { plan: installPlan }),
  }
}

const rows = fixture.rows as unknown as [what: string, left: Left, note: string, remedy: string[]][]

test.each(rows)('%s', (_, left, note, remedy) => {
  expect(rollbackHint(part, scene(left))).toEqual({ note, remedy })
})

test('a Subscription that approves by itself promises nothing', () => {
  const { note } = rollbackHint({ ...part, approval: 'Automatic' }, scene({}))
  expect(note).toBe(
    'there is no InstallPlan yet: HyperConverged is at 1.17.3, and OLM approves the next one automatically',
  )
})
