import { describe, expect, test } from 'vitest'
import type { HyperConverged } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Deployment } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { hyperConvergedLayer } from '../../../../src/lib/openshift/hyperconverged-layer.ts'
import type { Said } from '../platform/cluster-version.ts'
import { hyperConverged } from './hyperconverged.ts'

const at = new Date('2026-11-20T08:30:00Z')
const alone = { updating: false, kubeVirtIsTold: false, at }

/** With every condition of `said` unchanged for so many minutes. */
function unchanged(forMinutes: number, ...said: Said[]): HyperConverged {
  const hco = hyperConverged(said)
  const lastTransitionTime = new Date(at.getTime() - forMinutes * 60_000).toISOString()
  const conditions = (hco.status?.conditions ?? []).map((one) => Object.assign(one, { lastTransitionTime }))
  return { ...hco, status: { ...hco.status, conditions } }
}

const layerOf = (hco: HyperConverged, around: Partial<Parameters<typeof hyperConvergedLayer>[1]> = {}) =>
  hyperConvergedLayer({ known: true, items: [hco] }, { ...alone, ...around })

const lacking = (component: string): Said[] => [
  ['Available', 'False', `${component}NotAvailable`, `${component} is not available: Deploying`],
  ['Progressing', 'True', `${component}Progressing`, `${component} is progressing: Started`],
  ['Upgradeable', 'False', `${component}Progressing`, `${component} is progressing: Started`],
]

describe('a component that is not ready', () => {
  test.each([
    ['CDI', 'cdis.cdi.kubevirt.io', 'cdi-operator'],
    ['SSP', 'ssps.ssp.kubevirt.io', 'ssp-operator'],
    ['AAQ', 'aaqs.aaq.kubevirt.io', 'aaq-operator'],
    ['KubeVirt', 'kubevirts.kubevirt.io', 'virt-operator'],
    [
      'NetworkAddonsConfig',
      'networkaddonsconfigs.networkaddonsoperator.network.kubevirt.io',
      'cluster-network-addons-operator',
    ],
    ['MigController', 'migcontrollers.migrations.kubevirt.io', 'kubevirt-migration-operator'],
  ])(
    '%s: stalled where nothing is updated and nothing has changed for long',
    (component, resource, operator) => {
      const said = lacking(component)
      expect(layerOf(unchanged(11, ...said))).toMatchObject({
        verdict: 'Stalled',
        says: `4.18.9: ${component} is not available`,
        since: '2026-11-20T08:19:00.000Z',
        waitsFor: `${component}, although nothing is being updated`,
        help: [
          `kubectl get ${resource} -A -o yaml     shows its own conditions`,
          `kubectl -n openshift-cnv logs deployment/${operator} --tail=50     shows why, in the words of its operator`,
        ],
      })
    },
  )

  test('for a while it is on its way, and nobody calls that expected', () => {
    const layer = layerOf(unchanged(9, ...lacking('CDI')))
    expect(layer).toMatchObject({ verdict: 'Updating' })
    expect(layer?.expected).toBeUndefined()
  })

  test('while something is updated it is expected, but not for ever', () => {
    const said = lacking('SSP')
    expect(layerOf(unchanged(59, ...said), { updating: true })).toMatchObject({
      verdict: 'Updating',
      expected: 'expected during an update',
    })
    expect(layerOf(unchanged(61, ...said), { updating: true })).toMatchObject({
      verdict: 'Stalled',
      waitsFor: 'SSP, for longer than an update takes',
    })
  })

  test('one that has no conditions, and one that nobody has heard of, is named as HyperConverged names it', () => {
    const said: Said[] = [
      ['Available', 'False', 'WidgetConditions', 'Widget resource has no conditions'],
      ['Progressing', 'True', 'WidgetConditions', 'Widget resource has no conditions'],
    ]
    const hco = unchanged(20, ...said)
    const related = [{ apiVersion: 'widget.kubevirt.io/v1beta2', kind: 'Widget', name: 'w', namespace: 'ns' }]
    expect(layerOf({ ...hco, status: { ...hco.status, relatedObjects: related } })).toMatchObject({
      says: '4.18.9: Widget has no conditions',
      help: [
        'kubectl -n ns get Widget.v1beta2.widget.kubevirt.io w -o yaml     shows its own conditions',
        'kubectl -n openshift-cnv get deployments,pods     shows whether its operator runs',
      ],
    })
  })

  test('what is no name never becomes a part of a command', () => {
    const hco = unchanged(20, ...lacking('CDI'))
    const related = [{ apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'CDI', name: 'x; rm -rf ~' }]
    expect(layerOf({ ...hco, status: { ...hco.status, relatedObjects: related } })?.help?.[0]).toBe(
      'kubectl get cdis.cdi.kubevirt.io -A -o yaml     shows its own conditions',
    )
  })

  test('KubeVirt is told below with its cause, where it is', () => {
    const hco = unchanged(20, ...lacking('KubeVirt'))
    expect(layerOf(hco, { kubeVirtIsTold: true })).toMatchObject({ verdict: 'Updating' })
  })

  test('several are all named', () => {
    const hco = unchanged(
      20,
      ['Available', 'False', 'CDINotAvailable', 'x'],
      ['Progressing', 'True', 'SSPProgressing', 'y'],
    )
    expect(layerOf(hco)?.says).toBe('4.18.9: CDI is not available, SSP is not done')
  })
})

const deployment = (readyReplicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'cdi-operator', namespace: 'openshift-cnv' },
  spec: { replicas: 1 },
  status: { readyReplicas },
})

const none = { known: true, items: [] } as const

describe('its operator', () => {
  test.each([
    [{ known: true, items: [deployment(0)] }, 'Deployment cdi-operator: 0 of 1 ready, and it has no pod'],
    [{ known: true, items: [deployment(1)] }, 'its operator cdi-operator runs, and does not make CDI ready'],
    [none, 'there is no Deployment cdi-operator'],
    [{ known: false, why: 'forbidden' }, 'whether cdi-operator runs is not checked: forbidden'],
  ] as const)('%j', (deployments, words) => {
    const running = { deployments, replicaSets: none, pods: none }
    expect(layerOf(unchanged(20, ...lacking('CDI')), { running })?.notes).toContain(words)
  })
})

test('degraded is degraded at once where nothing moves, with the words of the component', () => {
  const said: Said[] = [
    ['Degraded', 'True', 'NetworkAddonsConfigDegraded', 'please install Kubernetes NMState Operator'],
    ['Upgradeable', 'False', 'HCODegraded', 'HCO is not Upgradeable due to degraded components'],
  ]
  expect(layerOf(unchanged(0, ...said))).toMatchObject({
    verdict: 'Degraded',
    says: '4.18.9: NetworkAddonsConfig is degraded',
  })
})

test('a component that only refuses the next release waits, with the line that shows why', () => {
  const said: Said[] = [['Upgradeable', 'False', 'CDINotUpgradeable', 'CDI is not upgradeable']]
  const layer = layerOf(unchanged(60, ...said))
  expect(layer?.verdict).toBe('Waiting')
  expect(layer?.help?.[0]).toContain('cdis.cdi.kubevirt.io')
})

test('a reconcile that failed a moment ago is tried again; one that keeps failing is degraded', () => {
  const said: Said[] = [['ReconcileComplete', 'False', 'ReconcileFailed', 'no matches for kind "Issuer"']]
  expect(layerOf(unchanged(1, ...said))?.verdict).toBe('Updating')
  expect(layerOf(unchanged(3, ...said))).toMatchObject({
    verdict: 'Degraded',
    notes: ['ReconcileComplete=False (ReconcileFailed): no matches for kind "Issuer"'],
  })
})
