/** What the API server says when an operator grants what it does not hold, the Go dump in front included (lab "Seen" 13). */
export function escalationText(namespace: string): string {
  const rules = Array.from(
    { length: 40 },
    (_, i) =>
      `PolicyRule{Verbs:[get list watch create delete patch update],APIGroups:[kubevirt.io],Resources:[rule-${i}],ResourceNames:[],NonResourceURLs:[],},`,
  ).join('')
  const account = `system:serviceaccount:${namespace}:kubevirt-operator`
  const verbs = '["get" "delete" "create" "update" "patch" "list" "watch" "deletecollection"]'
  const missing = ['virtualmachinebackups', 'virtualmachinebackuptrackers']
    .map((resource) => `{APIGroups:["backup.kubevirt.io"], Resources:["${resource}"], Verbs:${verbs}}`)
    .join('\n')
  return (
    `unable to update ClusterRole &ClusterRole{ObjectMeta:{kubevirt.io:admin      0 0001-01-01 00:00:00 +0000 UTC <nil> <nil> ` +
    `map[app.kubernetes.io/managed-by:virt-operator kubevirt.io:],},Rules:[]PolicyRule{${rules}},AggregationRule:nil,}: ` +
    `clusterroles.rbac.authorization.k8s.io "kubevirt.io:admin" is forbidden: user "${account}" ` +
    `(groups=["system:serviceaccounts" "system:serviceaccounts:${namespace}" "system:authenticated"]) ` +
    `is attempting to grant RBAC permissions not currently held:\n${missing}`
  )
}

/** An operator whose own ClusterRole lacks a rule. */
export function missingRightText(namespace: string): string {
  return (
    `unable to patch CustomResourceDefinition virtualmachines.kubevirt.io: customresourcedefinitions.apiextensions.k8s.io "virtualmachines.kubevirt.io" is forbidden: ` +
    `User "system:serviceaccount:${namespace}:kubevirt-operator" cannot patch resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope`
  )
}
