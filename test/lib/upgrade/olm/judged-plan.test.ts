import { expect, test } from 'vitest'
import type { InstallPlan, Subscription } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'
import { judgedOn } from '../../../../src/lib/upgrade/methods/install-plan-approval.ts'
import fixture from './judged-plan.json' with { type: 'json' }

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const namespace = 'kubevirt-hyperconverged'

/** One that waits for approval and installs exactly that release, on a platform that stands still. */
function judged(version: string, minor: string) {
  const plan: InstallPlan = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'InstallPlan',
    metadata: { name: 'install-abc', namespace },
    spec: { approval: 'Manual', approved: false, clusterServiceVersionNames: [csv(version)] },
    status: { phase: 'RequiresApproval' },
  }
  const subscription: Subscription = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'Subscription',
    metadata: { name: 'hco-operatorhub', namespace },
    spec: { channel: 'stable-v1.19', installPlanApproval: 'Manual' },
    status: { installedCSV: csv('1.18.1'), installPlanRef: { name: 'install-abc', namespace } },
  }
  const hop = {
    package: 'community-kubevirt-hyperconverged',
    subscription: { namespace, name: 'hco-operatorhub', uid: '1' },
    csv: csv(version),
    version,
    approveAlso: [],
    stableMs: 0,
  }
  const tools = { releases: knownReleases, command: 'kvup upgrade' }
  return judgedOn({ minor }, { snapshot: { subscription }, plan, hop, tools })
}

test.each(fixture.judged)('night E8: $version on platform $minor, $what: $is', ({ version, minor, is }) => {
  const { verdict, blocked } = judged(version, minor)
  expect(verdict.is).toBe(is)
  expect(blocked?.reason).toBe(is === 'wrong' ? 'operator-before-platform' : undefined)
})
