import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { atVersion, groupOf } from '../../src/lib/kube/object.ts'
import { type HyperConverged, HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { methodsOf } from '../../src/lib/vms/update-methods.ts'
import { runHyperConverged } from '../../src/simulator/hyperconverged/hco-operator.ts'
import { Faults } from '../../src/simulator/machinery/machinery-faults.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { clusterOf } from './in-process.ts'
import { eventually } from './installation.ts'
import type { Lab } from './lab.ts'

/** The CRD of a release, and what is known of it (hco 2). */
export interface RealCrd {
  file: string
  stored: 'v1beta1' | 'v1'
  other: 'v1beta1' | 'v1' | undefined
}

export const realCrds: readonly RealCrd[] = [
  { file: 'hco-v1.17.3.yaml', stored: 'v1beta1', other: undefined },
  { file: 'hco-v1.18.1.yaml', stored: 'v1beta1', other: 'v1' },
  { file: 'hco-main.yaml', stored: 'v1', other: 'v1beta1' },
]

/** No Go module brings the CRDs of HyperConverged: they are data beside the checkout. */
const folder = process.env['KVUP_CRDS'] ?? path.resolve(import.meta.dirname, '../../../shared/lab/crd-files')

export const crdFile = (file: string): string => path.join(folder, file)

/** Undefined, or why these tests are left out. */
export const crdsMissing = realCrds.every(({ file }) => existsSync(crdFile(file)))
  ? undefined
  : `left out: the CRDs of HyperConverged are not in ${folder} (KVUP_CRDS)`

export const ref = { name: 'kubevirt-hyperconverged', namespace: 'kubevirt' }
const crd = 'hyperconvergeds.hco.kubevirt.io'

/** Nothing of an earlier one is left. */
export async function installCrd(lab: Lab, { file, stored }: RealCrd): Promise<void> {
  await lab.kubectl(['delete', 'crd', crd, '--ignore-not-found', '--wait'])
  await lab.kubectl(['apply', '--server-side', '-f', crdFile(file)])
  await eventually(`${stored} of HyperConverged is served`, 60, () => serves(lab, stored))
}

/** The CRD of another release over the present one, as an upgrade does it. */
export async function replaceCrd(lab: Lab, { file, stored }: RealCrd): Promise<void> {
  await lab.kubectl(['apply', '--server-side', '--force-conflicts', '-f', crdFile(file)])
  await eventually(`${stored} of HyperConverged is served`, 60, () => serves(lab, stored))
}

const serves = (lab: Lab, version: string) =>
  lab.kubectl(['get', '--raw', `/apis/hco.kubevirt.io/${version}/hyperconvergeds`]).then(
    () => true,
    () => false,
  )

const below = (stored: string, fields: object) => (stored === 'v1' ? { virtualization: fields } : fields)

/**
 * A HyperConverged with these methods that owns the lab's KubeVirt, and somebody who does what its operator does: what the simulator has
 * for it, over HTTP. Ends with the result.
 */
export async function ownKubeVirt(
  lab: Lab,
  { stored }: RealCrd,
  methods: readonly string[],
): Promise<{ stop(): Promise<void> }> {
  const cluster = await clusterOf(lab, 'hyperconverged-cluster-operator')
  const kind = atVersion(HyperConvergeds, stored)
  const object = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: ref,
    spec: below(stored, { workloadUpdateStrategy: { workloadUpdateMethods: [...methods] } }),
  } as HyperConverged
  const { metadata } = await cluster.writer.create(kind, object)
  const owner = { apiVersion: kind.apiVersion, kind: kind.kind, name: ref.name, uid: metadata.uid ?? '' }
  const marked = { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' }, ownerReferences: [owner] }
  await cluster.writer.mergePatch(
    KubeVirts,
    { name: 'kubevirt', namespace: 'kubevirt' },
    { metadata: marked },
  )
  const end = new AbortController()
  const cx = { ...cluster, clock: systemClock, random: Math.random, signal: end.signal }
  const running = runHyperConverged(cx, { stored, served: [stored], conversion: 'None' }, new Faults())
  return {
    async stop() {
      end.abort()
      await running
      await cluster.writer.mergePatch(
        KubeVirts,
        { name: 'kubevirt', namespace: 'kubevirt' },
        { metadata: { labels: { 'app.kubernetes.io/managed-by': null }, ownerReferences: null } },
      )
      await cluster.writer.delete(kind, ref)
    },
  }
}

/** The methods as the server has them in the stored version, as JSON. */
export async function methodsOn({ reader }: Cluster, { stored }: RealCrd): Promise<string> {
  const found = await reader.get(atVersion(HyperConvergeds, stored), ref)
  if (found.is !== 'object') throw new Error('no HyperConverged')
  const { spec } = found.object
  const place = (stored === 'v1' ? spec?.['virtualization'] : spec) as Record<string, unknown> | undefined
  const strategy = place?.['workloadUpdateStrategy'] as Record<string, unknown> | undefined
  return JSON.stringify(strategy?.['workloadUpdateMethods'])
}

/** The methods as the KubeVirt CR has them, as JSON. */
export async function methodsOnKubeVirt({ reader }: Cluster): Promise<string> {
  const found = await reader.get(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' })
  return JSON.stringify(found.is === 'object' ? methodsOf(found.object) : undefined)
}

/** The notes of former values, as they lie on the KubeVirt and on a HyperConverged, read past kvup. */
export async function loansOn({ reader }: Cluster): Promise<readonly string[]> {
  const [served] = await reader.versions(groupOf(HyperConvergeds))
  const owners = served === undefined ? [] : await reader.list(atVersion(HyperConvergeds, served))
  const notes = [...(await reader.list(KubeVirts)), ...owners].flatMap(({ metadata }) =>
    Object.entries(metadata.annotations ?? {}),
  )
  return notes.flatMap(([key, note]) => (key.startsWith('kvup.io/saved-') ? [note] : []))
}
