import { Namespaces } from '../../cluster/kinds/core.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  OperatorGroups,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { control, type ControllerContext } from '../machinery/controller.ts'
import { ownServiceVersions } from './namespace-look.ts'
import type { OlmContext } from './olm-context.ts'

/** Copies the CSVs of operators for all namespaces into each of them, and takes copies away with their original (ocp 2.7). */
export function runCopies(cx: OlmContext): Promise<void> {
  const watched = [{ kind: ClusterServiceVersions }, { kind: Namespaces }, { kind: OperatorGroups }]
  return control(cx, watched, async () => {
    const originals = await ownServiceVersions(cx.reader)
    const everywhere = await namespacesForAll(cx)
    const wanted = originals.filter(({ metadata }) => everywhere.has(metadata.namespace ?? ''))
    const copies = await cx.reader.list(ClusterServiceVersions, { labels: copiedFromLabel })
    for (const copy of copies) if (!wanted.some((one) => isCopyOf(copy, one))) await remove(cx, copy)
    for (const { metadata, status } of await cx.reader.list(Namespaces))
      for (const csv of wanted)
        if (metadata.name !== csv.metadata.namespace && status?.phase !== 'Terminating')
          await copyTo(cx, csv, { namespace: metadata.name, copies })
    return undefined
  })
}

/** Those with one OperatorGroup, which names no namespaces. */
async function namespacesForAll({ reader }: ControllerContext): Promise<Set<string>> {
  const groups = await reader.list(OperatorGroups)
  const all = groups.filter(({ spec }) => spec?.targetNamespaces === undefined)
  return new Set(all.map(({ metadata }) => metadata.namespace ?? ''))
}

const isCopyOf = (copy: ClusterServiceVersion, { metadata }: ClusterServiceVersion): boolean =>
  copy.metadata.name === metadata.name && copy.metadata.labels?.[copiedFromLabel] === metadata.namespace

async function remove({ writer }: OlmContext, { metadata }: ClusterServiceVersion): Promise<void> {
  await writer.delete(ClusterServiceVersions, metadata)
}

async function copyTo(
  { writer }: OlmContext,
  csv: ClusterServiceVersion,
  { namespace, copies }: { namespace: string; copies: readonly ClusterServiceVersion[] },
): Promise<void> {
  const { apiVersion, kind, metadata, spec, status } = csv
  const { phase = '' } = status ?? {}
  const labels = { ...metadata.labels, [copiedFromLabel]: metadata.namespace ?? '' }
  const there = copies.find((copy) => copy.metadata.namespace === namespace && isCopyOf(copy, csv))
  if (there?.status?.phase === phase) return
  const { name } = metadata
  if (there === undefined)
    await writer.create(ClusterServiceVersions, {
      apiVersion,
      kind,
      metadata: { name, namespace, labels },
      ...(spec && { spec }),
    })
  const message = `The operator is running in ${metadata.namespace} but is managing this namespace`
  const copied = { phase, reason: 'Copied', message }
  await writer.mergePatch(ClusterServiceVersions, { name, namespace }, { status: copied }, 'status')
}
