import { expect, test } from 'vitest'
import { readFailure } from '../../../src/lib/kubevirt/diagnosis/diagnosis.ts'

const place = { namespace: 'kv', target: 'v1.9.0' }
const failed = 'An error occurred during deployment: '

test.for([
  [
    'an escalation',
    `${failed}unable to update ClusterRole &ClusterRole{…}: clusterroles.rbac.authorization.k8s.io "kubevirt.io:admin" is forbidden: user "x" is attempting to grant RBAC permissions not currently held:\n{APIGroups:["backup.kubevirt.io"], Resources:["a"]}\n{APIGroups:["backup.kubevirt.io"], Resources:["b"]}`,
    'forbidden',
    'lacks permissions that v1.9.0 needs (backup.kubevirt.io): it may not grant clusterroles kubevirt.io:admin',
    'kvup upgrade --to v1.9.0 --method operator-manifest',
  ],
  [
    'a right that is missing',
    `${failed}customresourcedefinitions.apiextensions.k8s.io "vms.kubevirt.io" is forbidden: User "u" cannot patch resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope`,
    'forbidden',
    'may not patch customresourcedefinitions vms.kubevirt.io',
    'kvup upgrade --to v1.9.0 --method operator-manifest',
  ],
  [
    'a webhook that is down',
    `${failed}unable to patch: Internal error occurred: failed calling webhook "policy.example.com": failed to call webhook: Post "https://policy.guard.svc:443/?timeout=10s": dial tcp 10.96.0.12:443: connect: connection refused`,
    'webhook',
    'the webhook policy.example.com does not answer, service policy in namespace guard (connection refused)',
    'kubectl -n guard get endpointslices -l kubernetes.io/service-name=policy',
  ],
  [
    'a webhook outside of the cluster',
    `${failed}failed calling webhook "policy.example.com": failed to call webhook: Post "https://policy.example.com/x": context deadline exceeded`,
    'webhook',
    'the webhook policy.example.com does not answer (context deadline exceeded)',
    'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations',
  ],
  [
    'a webhook that says no',
    `${failed}admission webhook "policy.example.com" denied the request: no privileged pods`,
    'webhook',
    'the webhook policy.example.com refuses it: no privileged pods',
    'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations',
  ],
  [
    'a version that is still stored',
    `${failed}unable to patch CRD: CustomResourceDefinition.apiextensions.k8s.io "virtualmachineexports.export.kubevirt.io" is invalid: status.storedVersions[0]: Invalid value: "v1alpha1": missing from spec.versions; v1alpha1 was previously a storage version, and must remain`,
    'stored-versions',
    'virtualmachineexports.export.kubevirt.io has objects stored as v1alpha1',
    'kvup check --to v1.9.0',
  ],
  [
    'more new pods than wanted',
    `${failed}unexpected canary upgrade state: updatedAndReadyPods=3, desiredReadyPods=2`,
    'canary',
    '3 updated pods are ready, but 2 are desired',
    'kubectl -n kv get pods -l kubevirt.io=virt-handler -o wide',
  ],
  [
    'a canary that ended',
    `${failed}daemonSet virt-handler rollout failed`,
    'canary',
    'the first new pod of virt-handler failed',
    'kubectl -n kv get pods -l kubevirt.io=virt-handler -o wide',
  ],
])('%s', ([, text = '', kind, message, commands]) => {
  expect(readFailure(text, place)).toMatchObject({ kind, message })
  expect(readFailure(text, place)?.commands[0]).toBe(commands)
})

test('what is not known is told as it is', () => {
  expect(
    readFailure(`${failed}virtualmachineclusterinstancetypes "cx1" already exists`, place),
  ).toBeUndefined()
})
