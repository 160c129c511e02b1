import { describe, expect, test } from 'vitest'
import type { InstallPlan, Subscription } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { compareMinors } from '../../../../src/lib/releases/release-versions.ts'
import {
  judgeInstallPlan,
  type PlanQuestion,
} from '../../../../src/lib/upgrade/methods/install-plan-approval.ts'
import fixture from './judge-install-plan.json' with { type: 'json' }

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const namespace = 'openshift-cnv'

type Changes = {
  names?: string[]
  plan?: Partial<InstallPlan['metadata']>
  spec?: Partial<NonNullable<InstallPlan['spec']>>
  status?: Partial<NonNullable<InstallPlan['status']>>
  reference?: string
  approval?: 'Manual' | 'Automatic'
  question?: Partial<PlanQuestion>
}

/** A plan that is right in every respect, but for what is changed. */
function judge({
  names = [csv('4.19.3')],
  plan,
  spec,
  status,
  reference = 'install-abc',
  ...rest
}: Changes = {}) {
  const { approval = 'Manual', question } = rest
  const subscription: Subscription = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'Subscription',
    metadata: { name: 'hco-operatorhub', namespace },
    spec: { name: 'kubevirt-hyperconverged', channel: 'stable', installPlanApproval: approval },
    status: {
      installedCSV: csv('4.18.9'),
      currentCSV: csv('4.19.3'),
      state: 'UpgradePending',
      installPlanRef: { name: reference, namespace },
    },
  }
  const installPlan: InstallPlan = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'InstallPlan',
    metadata: { name: 'install-abc', namespace, ...plan },
    spec: { approval: 'Manual', approved: false, clusterServiceVersionNames: names, ...spec },
    status: { phase: 'RequiresApproval', ...status },
  }
  const asked = {
    subscription,
    csv: csv('4.19.3'),
    approveAlso: [],
  }
  return judgeInstallPlan(installPlan, { ...asked, ...question })
}

const steps = (...names: string[]) => ({
  plan: names.map((name) => ({ resource: { kind: 'ClusterServiceVersion', name } })),
})

describe('done 5: which InstallPlan is approved', () => {
  test('the one that waits for approval, is referenced and installs exactly the hop', () => {
    expect(judge()).toEqual({ is: 'right' })
  })

  test('one that installs another operator too, where that was allowed by name', () => {
    const names = [csv('4.19.3'), 'odf-operator.v4.19.1']
    expect(judge({ names, question: { approveAlso: ['odf-operator'] } })).toEqual({ is: 'right' })
    expect(judge({ names, question: { approveAlso: ['odf-operator.v4.19.1'] } })).toEqual({ is: 'right' })
  })

  test('one whose steps install what it names', () => {
    expect(judge({ status: steps(csv('4.19.3')) })).toEqual({ is: 'right' })
  })

  test.each<[name: string, installs: string[], why: RegExp]>([
    [
      'more than it names',
      [csv('4.19.3'), 'evil.v1.0.0'],
      /steps install evil\.v1\.0\.0, which it does not name/,
    ],
    ['something else', ['evil.v1.0.0'], /evil\.v1\.0\.0.*no step of it installs .*4\.19\.3/],
  ])('never one whose steps install %s, also where that is allowed by name', (_name, installs, why) => {
    const verdict = judge({ status: steps(...installs), question: { approveAlso: ['evil'] } })
    expect(verdict).toMatchObject({
      is: 'wrong',
      reason: 'plan-contradicts-itself',
      why: expect.stringMatching(why),
    })
  })

  test('never one whose steps hold a CSV under the name of another', () => {
    const question = { hidden: ['evil.v1.0.0'], approveAlso: ['evil'] }
    expect(judge({ status: steps(csv('4.19.3')), question })).toMatchObject({
      is: 'wrong',
      reason: 'plan-contradicts-itself',
      why: 'its steps have CSV evil.v1.0.0, which it does not name',
    })
  })

  test('ten thousand that it does not name are counted', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `evil.v1.0.${i}`)
    const { why } = judge({ status: steps(csv('4.19.3'), ...many) }) as { why: string }
    expect(why).toContain('evil.v1.0.0, evil.v1.0.1, evil.v1.0.2 and 9997 more')
  })

  test.each(fixture.wrong as unknown as [name: string, changes: Changes, is: string, why: string][])(
    'night E4: not approved: %s',
    (_, changes, is, why) => {
      const verdict = judge(changes)
      expect(verdict.is).toBe(is)
      expect('why' in verdict ? verdict.why : '').toMatch(new RegExp(why, 'u'))
    },
  )

  test('what can never become right is said before what has to be waited for', () => {
    const verdict = judge({
      names: [csv('4.18.2')],
      status: { phase: '' },
      question: { platformBusy: 'busy' },
    })
    expect(verdict).toMatchObject({ is: 'wrong', reason: 'plan-goes-back' })
  })

  test.each([
    ['4.19', '4.18', true],
    ['4.18', '4.18', false],
    ['4.10', '4.9', true],
    ['4.9', '4.10', false],
    ['5.0', '4.23', true],
    ['4.23', '5.0', false],
  ])('minor %s beyond platform %s: %s', (minor, platform, beyond) => {
    expect(compareMinors(minor, platform) > 0).toBe(beyond)
  })
})
