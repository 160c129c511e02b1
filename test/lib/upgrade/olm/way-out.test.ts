import { expect, test } from 'vitest'
import type { InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { OlmPart } from '../../../../src/lib/upgrade/methods/olm-plan.ts'
import type { OperatorRollSnapshot } from '../../../../src/lib/upgrade/methods/operator-manifest.ts'
import { rollbackHint } from '../../../../src/lib/upgrade/methods/install-plan-approval.ts'

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const subscription = { namespace: 'hco', name: 'hco-operatorhub', uid: 'u' }
const apiVersion = 'operators.coreos.com/v1alpha1'
const part: OlmPart = {
  package: 'community-kubevirt-hyperconverged',
  subscription,
  approval: 'Manual',
  channel: 'stable-v1.17',
  from: '1.17.3',
  to: '1.18.1',
  csv: csv('1.18.1'),
  hops: [],
  certain: false,
  offered: [],
  approveAlso: [],
  hyperconverged: { ref: { name: 'h', namespace: 'hco' }, uid: 'h' },
  accepted: [],
  isUnderWay: false,
}

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

const stays = 'no InstallPlan is approved: HyperConverged remains at 1.17.3 until you approve one'
const channelBack = `kubectl -n hco patch subscription.operators.coreos.com hco-operatorhub --type merge -p '{"spec":{"channel":"stable-v1.17"}}'     restores the channel`
const drop =
  'kubectl -n hco delete installplan install-abc     takes away the InstallPlan that was made of stable-v1.18'
const former = { names: ['1.17.3'], approved: true, phase: 'Complete' }

const rows: readonly [what: string, left: Left, note: string, remedy: string[]][] = [
  ['nothing was set', {}, stays, []],
  ['a plan that was there before', { plan: { names: ['1.17.4'], approved: false } }, stays, []],
  ['the channel was set', { channel: 'stable-v1.18', plan: former }, stays, [channelBack]],
  [
    'and a plan was made of it',
    { channel: 'stable-v1.18', plan: { names: ['1.18.1'], approved: false } },
    stays,
    [channelBack, drop],
  ],
  [
    'approved',
    { channel: 'stable-v1.18', plan: { names: ['1.18.1'], approved: true } },
    `there is no way back: ${csv('1.18.1')} is approved, and OLM does not downgrade`,
    [],
  ],
  [
    'installed, however far it came',
    { channel: 'stable-v1.18', installed: '1.18.1', plan: { ...former, names: ['1.18.1'] } },
    'there is no way back to 1.17.3: 1.18.1 is installed, and OLM does not downgrade',
    [],
  ],
]

test.each(rows)('%s', (_, left, note, remedy) => {
  expect(rollbackHint(part, scene(left))).toEqual({ note, remedy })
})

test('a Subscription that approves by itself promises nothing', () => {
  const { note } = rollbackHint({ ...part, approval: 'Automatic' }, scene({}))
  expect(note).toBe(
    'there is no InstallPlan yet: HyperConverged is at 1.17.3, and OLM approves the next one automatically',
  )
})
