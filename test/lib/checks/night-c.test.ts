import { expect, test } from 'vitest'
import { defaultsThatShift } from '../../../src/lib/checks/groups/customization-checks.ts'
import { cannotBeUndone } from '../../../src/lib/checks/groups/path-checks.ts'
import { operatorRights, rbacDiff, rights } from '../../../src/lib/checks/groups/rights-checks.ts'
import type { PolicyRule, Role } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { ask, evidence, known, ofVersion, said, unread, withSpec } from './evidence.ts'
import fixture from './night-c.json' with { type: 'json' }

/** The pull request in which a change is written down. */
const told: Readonly<Record<string, number>> = fixture.told

const gates = (...featureGates: string[]) => ({ developerConfiguration: { featureGates } })
const off = (...disabledFeatureGates: string[]) => ({ developerConfiguration: { disabledFeatureGates } })
const hurting = ['ImageVolume', 'ExternalNetResourceInjection', 'DeclarativeHotplugVolumes', 'Template']

test.each<[string, string, object, string[], string?]>(fixture.shifting as never)(
  'C2 defaults that shift: %s to %s with %j',
  (version, target, configuration, shifts) => {
    const found = ofVersion(version, withSpec({ configuration }))
    const { findings } = ask(defaultsThatShift, { snapshot: found, target })
    const sources = shifts.map((shift) => told[shift.replace('info ', '')])
    expect(findings.map(({ level }) => level)).toEqual(
      shifts.map((shift) => (shift.startsWith('info ') ? 'info' : 'warning')),
    )
    expect(findings.map(({ remedy }) => remedy.find((line) => line.startsWith('read ')))).toEqual(
      sources.map((number) => `read https://github.com/kubevirt/kubevirt/pull/${number}`),
    )
  },
)

const changed = 'read https://github.com/kubevirt/kubevirt/pull/17405'

test('C2 a listed gate is a text in the command, whatever is in it', () => {
  const found = withSpec({ configuration: off("x'; echo owned; '") })
  const { findings } = ask(defaultsThatShift, { snapshot: found, target: 'v1.9.0' })
  expect(findings[0]?.remedy[0]).toContain(String.raw`["x'\''; echo owned; '\''","ImageVolume"`)
})

test('C2 what a gate does is said of those that nobody decided on, and the others are named', () => {
  const found = withSpec({ configuration: off('ImageVolume', 'Snapshot') })
  const [finding] = ask(defaultsThatShift, { snapshot: found, target: 'v1.9.0' }).findings
  expect(finding?.summary).toContain('Template: two Deployments of virt-template come')
  expect(finding?.summary).toMatch(/\. Also on: LibvirtHooksServerAndClient, WorkloadEncryptionSEV, /u)
  expect(finding?.summary).not.toContain('ImageVolume')
})

test('C2 gates that were turned on by hand are not turned off', () => {
  const found = withSpec({ configuration: gates(...hurting) })
  const { findings } = ask(defaultsThatShift, { snapshot: found, target: 'v1.9.0' })
  expect(findings).toMatchObject([{ id: 'defaults-that-shift', remedy: [changed] }])
})

const role = (...rules: PolicyRule[]): Role => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'kubevirt-operator' },
  rules,
})
const account: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'kubevirt-operator', namespace: 'kubevirt' },
}
const on = (verbs: string[], resources = ['virtualmachineinstances'], apiGroups = ['kubevirt.io']) => ({
  verbs,
  resources,
  apiGroups,
})

test('C3 what virt-operator may by roles that the manifest does not bring stays, and is not lost', () => {
  const everybodys = { ...role(on(['create'], ['selfsubjectreviews'], ['authentication.k8s.io'])) }
  everybodys.metadata = { name: 'system:basic-user' }
  const twice = { ...role(on(['list'])), metadata: { name: 'added-by-hand' } }
  const found = evidence({ operatorRoles: known(role(on(['get', 'list'])), everybodys, twice) })
  const manifest = [account, role(on(['get']))]
  expect(ask(rbacDiff, { snapshot: found, target: 'v1.8.5', manifest }).is).toBe('passed')
})

test('C3 with a manifest, what virt-operator gains and loses as well', () => {
  const found = evidence({ operatorRoles: known(role(on(['get', 'patch']))) })
  const manifest = [
    account,
    role(on(['get']), on(['list'], ['virtualmachinebackups'], ['backup.kubevirt.io'])),
  ]
  const { findings } = ask(rbacDiff, { snapshot: found, target: 'v1.8.5', manifest })
  expect(findings).toMatchObject([
    {
      objects: [
        'lost: patch virtualmachineinstances.kubevirt.io',
        'gained: list virtualmachinebackups.backup.kubevirt.io',
      ],
    },
  ])
})

test('C3 what it may in its own namespace only from then on is told as that, and rights are counted role by role', () => {
  const own = { ...role(on(['get'], ['secrets'], [''])), kind: 'Role' }
  const found = evidence({
    operatorRoles: known(role(on(['get', 'list'], ['secrets'], ['']), on(['*'], ['*']))),
  })
  const manifest = [account, role(on(['*'], ['*']), on(['get'])), own]
  const { findings } = ask(rbacDiff, { snapshot: found, target: 'v1.8.5', manifest })
  expect(findings).toMatchObject(fixture.counted)
})

test('operator-rights: what a tag cannot bring', () => {
  const manifest = [
    account,
    role(on(['get', 'delete']), on(['*'], ['virtualmachinebackups'], ['backup.kubevirt.io'])),
  ]
  const asked = { target: 'v1.8.4', method: 'image-tag', manifest } as const
  const may = (...rules: PolicyRule[]) => evidence({ operatorRoles: known(role(...rules)) })
  expect(ask(operatorRights, { ...asked, snapshot: may(on(['get'])) }).findings).toMatchObject([
    {
      level: 'blocker',
      objects: ['delete virtualmachineinstances.kubevirt.io', '* virtualmachinebackups.backup.kubevirt.io'],
    },
  ])
  const everything = may(on(['*'], ['*']), on(['*'], ['*'], ['backup.kubevirt.io']))
  expect(ask(operatorRights, { ...asked, snapshot: everything }).is).toBe('passed')
  expect(ask(operatorRights, { ...asked, snapshot: may(), method: 'operator-manifest' }).is).toBe('passed')
  expect(said(ask(operatorRights, { target: 'v1.8.5', method: 'image-tag' }).findings)).toEqual([
    'info operator-rights',
  ])
  expect(ask(operatorRights, { ...asked, snapshot: evidence({ operatorRoles: unread }) }).is).toBe(
    'not-checked',
  )
})

test('operator-rights: the operator of the target itself is compared where there is something to compare with', () => {
  const asked = { target: 'v1.8.4', method: 'image-tag' } as const
  const manifest = [account, role(on(['get', 'delete']))]
  expect(ask(operatorRights, asked).is).toBe('passed')
  const robbed = evidence({ operatorRoles: known(role(on(['get']))) })
  expect(said(ask(operatorRights, { ...asked, manifest, snapshot: robbed }).findings)).toEqual([
    'blocker operator-rights',
  ])
})

test('C7 that the age of the last etcd backup cannot be seen is said, with all that cannot be undone', () => {
  const { findings } = ask(cannotBeUndone, { target: 'v1.9.0' })
  expect(findings[0]?.summary).toContain('Back up etcd now')
  expect(findings[0]?.summary).toContain('export.kubevirt.io is no longer served as v1alpha1')
  expect(ask(cannotBeUndone, { target: 'v1.8.5' }).findings[0]?.summary).not.toContain('export.kubevirt.io')
  expect(ask(cannotBeUndone).is).toBe('skipped')
})

test('by method olm it is the InstallPlan behind which nothing goes back, and etcd is saved as its platform does', () => {
  const [finding] = ask(cannotBeUndone, { target: 'v1.9.0', method: 'olm' }).findings
  expect(finding?.summary).toMatch(
    /^there is no way back once the InstallPlan is approved: OLM does not downgrade/u,
  )
  expect(finding?.summary).toContain('A VM on the new virt-launcher cannot migrate to an old one')
  expect(finding?.summary).not.toContain('virt-operator has replaced the CRDs')
  expect(finding?.remedy.join()).toContain('cluster-backup.sh')
})

test.each([
  [{ target: 'v1.8.5', method: 'image-tag' }, 'kvup rbac kvup-upgrade --namespace-of-kubevirt kubevirt | '],
  [{}, 'kvup rbac kvup-view '],
] as const)('rights: the role that holds them is named, of %j', (asked, line) => {
  const denied = { what: 'patch kubevirts.kubevirt.io', allowed: false, optional: false }
  const [finding] = ask(rights, { snapshot: evidence({ rights: known(denied) }), ...asked }).findings
  expect(finding?.remedy[0]?.startsWith(line)).toBe(true)
})
