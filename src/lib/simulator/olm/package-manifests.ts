import { type PackageManifest, PackageManifests } from '../../cluster/kinds/operator-lifecycle.ts'
import { same } from '../api/json.ts'
import { contentOf, type PackageContent } from './catalog-content.ts'
import { headOf } from './graph.ts'
import type { OlmContext } from './olm-context.ts'

/**
 * What the catalog has, as the package server tells it: versions without edges (ocp 2.6). In the catalog's namespace and the operator's;
 * nothing where the cluster does not serve the kind.
 */
export async function tellPackages(cx: OlmContext, minor: string | undefined): Promise<undefined> {
  const { namespace, sourceNamespace } = cx.shape
  for (const content of contentOf(cx.shape, minor))
    for (const where of new Set([sourceNamespace, namespace])) await tell(cx, manifest(cx, content, where))
}

async function tell({ reader, writer }: OlmContext, wanted: PackageManifest): Promise<void> {
  const found = await reader.find(PackageManifests, wanted.metadata)
  if (found.is === 'absent') await writer.create(PackageManifests, wanted)
  if (found.is === 'object' && !same(found.object.status, wanted.status))
    await writer.jsonPatch(PackageManifests, wanted.metadata, [
      { op: 'replace', path: '/status', value: wanted.status },
    ])
}

function manifest({ shape }: OlmContext, content: PackageContent, namespace: string): PackageManifest {
  const { source, sourceNamespace } = shape
  const channels = content.channels.map(({ name, entries }) => {
    const head = headOf(entries)
    const { skipRange } = head ?? {}
    return {
      name,
      ...(head && {
        currentCSV: head.name,
        currentCSVDesc: {
          version: head.version,
          annotations: skipRange === undefined ? {} : { 'olm.skipRange': skipRange },
        },
      }),
      entries: entries.map((entry) => ({ name: entry.name, version: entry.version })),
    }
  })
  const [first] = channels
  return {
    apiVersion: PackageManifests.apiVersion,
    kind: PackageManifests.kind,
    metadata: {
      name: content.package,
      namespace,
      labels: { catalog: source, 'catalog-namespace': sourceNamespace },
    },
    status: {
      catalogSource: source,
      catalogSourceNamespace: sourceNamespace,
      packageName: content.package,
      ...(first && { defaultChannel: first.name }),
      channels,
    },
  }
}
