import type { NodeMaintenance } from '../../../cluster/kinds/openshift.ts'
import type { Finding } from '../../../checks/finding.ts'
import { itemsOf } from '../../../facts/known.ts'
import { compareMinors } from '../../../releases/platform-version.ts'
import { hours } from '../../../system/units.ts'
import { shellWord } from '../../../system/shell-word.ts'
import type { Judged } from '../judged.ts'
import { rotationOf } from '../kubelet-signer.ts'
import { someOf } from '../../../system/some-of.ts'

/** Rules of single minors: what goes away with them, and what is over since. */
export function onceFindings(judged: Judged): readonly Finding[] {
  return [...removedApis(judged), ...maintenances(judged), ...certificates(judged)]
}

function removedApis({ hops, sight: { evidence } }: Judged): readonly Finding[] {
  const apis = hops.flatMap(({ removedApis: gone, minor }) => gone.map((api) => ({ ...api, minor })))
  if (apis.length > 0)
    return [
      {
        id: 'removed-apis-in-use',
        level: 'warning',
        summary: `APIs that go away on this way were asked for in the last 24 hours: ${someOf(apis.map(({ name, requests, minor }) => `${name} (${requests} requests, gone with ${minor})`))}`,
        objects: apis.map(({ name }) => `apirequestcount/${name}`),
        remedy: [
          `oc get apirequestcount ${apis[0]?.name ?? ''} -o yaml      says who asks`,
          ...apis.slice(1, 3).map(({ name }) => `oc get apirequestcount ${name} -o yaml`),
        ],
      },
    ]
  if (evidence.removedApis.known || hops.length === 0) return []
  return [
    {
      id: 'removed-apis-in-use',
      level: 'warning',
      summary: `whether somebody still uses APIs that go away on this way could not be told: ${evidence.removedApis.why}`,
      remedy: ['oc get apirequestcounts'],
    },
  ]
}

/** Night E9: the operator that these objects were for does not come along to 4.11. */
function maintenances({ hops, sight: { evidence } }: Judged): readonly Finding[] {
  const old = itemsOf(evidence.oldMaintenances)
  const carried = new Set(itemsOf(evidence.maintenances).map(({ spec }) => spec?.nodeName))
  const missing = old.filter(({ spec }) => !carried.has(spec?.nodeName))
  if (old.length === 0 || !hops.some(({ minor, platform }) => minor === '4.11' && !platform.done)) return []
  return [
    {
      id: 'node-maintenance-old',
      level: 'blocker',
      summary: `${old.length === 1 ? 'a node is' : `${old.length} nodes are`} held in maintenance (${someOf(old.map(({ spec }) => spec?.nodeName ?? ''))}) by an operator that is no part of 4.11 any more. End it, or carry it over to the standalone operator, in this order`,
      objects: old.map(({ metadata }) => `nodemaintenance/${metadata.name}`),
      remedy: [
        ...(missing.length > 0 ? ['install the Node Maintenance Operator from the OperatorHub'] : []),
        ...missing.map((one) => `echo ${shellWord(asStandalone(one))} | oc apply -f -`),
        ...old.map(
          ({ metadata }) =>
            `oc delete nodemaintenances.nodemaintenance.kubevirt.io ${shellWord(metadata.name)}`,
        ),
      ],
    },
  ]
}

function asStandalone({ metadata, spec = {} }: NodeMaintenance): string {
  return JSON.stringify({
    apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
    kind: 'NodeMaintenance',
    metadata: { name: metadata.name },
    spec: { nodeName: spec.nodeName, ...(spec.reason !== undefined && { reason: spec.reason }) },
  })
}

/** The day by which pools that stay behind have to be unpaused; undefined where nothing runs out, or nothing tells (ocp 3.6). */
export function unpauseBefore({ sight, route }: Pick<Judged, 'sight' | 'route'>): string | undefined {
  if (route.way !== 'control-plane-only' || compareMinors(sight.began, '4.14') >= 0) return undefined
  const [signer] = itemsOf(sight.evidence.kubeletSigner)
  return signer && rotationOf(signer).toISOString()
}

function certificates(judged: Judged): readonly Finding[] {
  const { sight, route, lasts } = judged
  if (route.way !== 'control-plane-only' || compareMinors(sight.began, '4.14') >= 0) return []
  const deadline = unpauseBefore(judged)
  const { kubeletSigner } = sight.evidence
  const until = deadline && Date.parse(deadline) - sight.evidence.at.getTime()
  const isShort = typeof until === 'number' && until < lasts.high + 24 * hours
  const why = kubeletSigner.known ? 'there is no certificate to read' : kubeletSigner.why
  return [
    {
      id: 'paused-pool-certificates',
      level: isShort ? 'blocker' : 'warning',
      summary:
        deadline === undefined
          ? `before 4.14 paused pools miss the next certificate of the API server, and when that comes is not known: ${why}`
          : `unpause before ${deadline.slice(0, 10)}: before 4.14 paused pools miss the certificate that comes then, logs and exec break within hours, and later nodes are lost${isShort ? '. That is sooner than this window may last' : ''}`,
      remedy: [
        'oc -n openshift-kube-apiserver-operator get configmap kube-apiserver-to-kubelet-client-ca -o yaml',
        ...(isShort ? ['wait until it was replaced, then begin'] : []),
      ],
    },
  ]
}
