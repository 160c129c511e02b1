import type { Context, Wire } from '../context.ts'
import type { KubeObject } from '../lib/kube/object.ts'
import type { Document, View } from '../lib/output/printer.ts'
import { asksCluster, KvupCommand } from './command-options.ts'
import { RecordingReader } from '../lib/kube/saved/recording-reader.ts'
import type { SnapshotIndex } from '../lib/kube/saved/saved-cluster.ts'
import { takeFullSnapshot } from '../lib/kubevirt/full-snapshot.ts'
import { getInstallation, hasOwnLayers } from '../lib/kubevirt/installation.ts'
import { notAsked } from '../lib/kube/known.ts'
import { readLayerParts } from '../lib/openshift/layer-parts.ts'
import { homeOf, listKubeVirts } from '../lib/kubevirt/snapshot.ts'
import { takeForWindow } from '../lib/eus/plan/eus-snapshot.ts'
import { isPlatform, prefetchPlatform } from '../lib/openshift/layers.ts'
import { configMapJournal } from '../lib/engine/journal-config-map.ts'
import { accessOf, type NeededAccess } from '../lib/upgrade/roles.ts'

export interface SnapshotOptions {
  toFile?: string
  redact?: boolean
}

/** To stdout: what `--from` reads as well. */
interface SnapshotDocument extends Document {
  kind: 'Snapshot'
  /** The index first. */
  items: readonly KubeObject[]
}

/** To a file: what is in it. */
interface SavedDocument extends Document {
  kind: 'SavedSnapshot'
  file: string
  takenAt: string
  redacted: boolean
  objects: number
  /** What the cluster did not let us read. */
  unread: readonly string[]
}

export function snapshotCommand(wire: Wire): KvupCommand {
  return new KvupCommand('snapshot')
    .option(
      '--to-file <file>',
      'write to this file, an object per line; compressed when its name ends in .gz',
    )
    .option(
      '--redact',
      'replace the names of namespaces, VMs, nodes, users and registries; equal names are replaced alike',
    )
    .manual({
      examples: [
        ['kvup snapshot --to-file cluster.ndjson.gz', 'save it for kvup check --from cluster.ndjson.gz'],
        ['kvup snapshot --redact --to-file cluster.ndjson', 'hide names; read it before you share it'],
        ['kvup snapshot -o yaml', 'write it to stdout'],
      ],
      more: 'It contains what kvup reads, as plain Kubernetes objects, but never a Secret.',
      codes: asksCluster,
    })
    .action(wire<SnapshotOptions, []>(snapshot))
}

/** Reads only; an unfinished look leaves no file. */
export async function snapshot(cx: Context, { toFile, redact = false }: SnapshotOptions): Promise<void> {
  const { index, objects } = await takeSnapshot(cx, redact)
  const unread = index.unread.filter(({ code }) => code !== 404).map(({ why }) => why)
  const status = unread.length > 0 ? 'partial' : 'complete'
  const apiVersion = 'kvup.io/v1alpha1'
  if (toFile === undefined)
    return cx.printer.result<SnapshotDocument>(
      { apiVersion, kind: 'Snapshot', items: [index, ...objects] },
      lines,
      status,
    )
  const { writeSaved } = await import('../lib/kube/saved/saved-file.ts')
  await writeSaved(toFile, [index, ...objects])
  cx.printer.result<SavedDocument>(
    {
      apiVersion,
      kind: 'SavedSnapshot',
      file: toFile,
      takenAt: index.takenAt,
      redacted: redact,
      objects: objects.length,
      unread,
    },
    summary,
    status,
  )
}

const lines: View<SnapshotDocument> = {
  text: ({ items }) => items.map((object) => JSON.stringify(object)),
  names: ({ items }) => items.slice(1).map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`),
}

const summary: View<SavedDocument> = {
  text: ({ file, objects, unread, redacted }, paint) => [
    `${paint.good(paint.mark.done)} ${objects} objects are in ${file}${redacted ? ', names replaced' : ''}`,
    ...unread.map((why) => `${paint.warn(paint.mark.warning)} not in it: ${why}`),
    `  ${paint.mark.next} kvup status --from ${file}`,
  ],
  names: ({ file }) => [`snapshot/${file}`],
}

interface Taken {
  index: SnapshotIndex
  objects: readonly KubeObject[]
}

/**
 * Asks what the read commands ask and keeps every answer: what was not asked is not in it, and says so when it is asked for. Throws
 * what the Reader throws for anything but 403 and 404.
 */
export async function takeSnapshot(cx: Context, redact: boolean): Promise<Taken> {
  const cluster = await cx.cluster()
  const { reviewer } = cluster
  const recorder = new RecordingReader(cluster.reader)
  const home = homeOf(await listKubeVirts(recorder))
  const rights = home === undefined ? undefined : rightsAsked(home)
  const asked = { reader: recorder, reviewer: recorder.reviewing(reviewer) }
  const taken = await takeFullSnapshot(asked, cx.clock, { rights })
  if (home !== undefined)
    await configMapJournal(
      { ...cluster, reader: recorder },
      { namespace: home, who: '', clock: cx.clock },
    ).missing()
  await prefetchPlatform(recorder)
  const onPlatform = await isPlatform(recorder)
  if (onPlatform) await takeForWindow(recorder)
  const one = getInstallation(taken)
  const managed = one.is === 'one' && hasOwnLayers(one.manager)
  await readLayerParts(recorder, { onPlatform, managed, alerts: async () => notAsked })
  const objects = recorder.objects()
  const index: SnapshotIndex = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'SnapshotIndex',
    metadata: { name: 'snapshot' },
    takenAt: taken.takenAt,
    takenBy: `kvup/${cx.world.version}`,
    redacted: redact,
    objects: objects.length,
    ...(home !== undefined && { kubevirtNamespace: home }),
    ...recorder.recorded(),
  }
  if (!redact) return { index, objects }
  const me = await reviewer.whoAmI().catch(() => undefined)
  const { redacted } = await import('../lib/kube/saved/redact-snapshot.ts')
  return redacted(objects, { home, users: me === undefined ? [] : [me], index })
}

/** Of each method that an upgrade may take, each once: a check of what was saved asks for the rights of one of them. */
function rightsAsked(home: string): readonly NeededAccess[] {
  const all = [...accessOf('kvup-operator-manifest', home), ...accessOf('kvup-olm', home)]
  return [...new Map(all.map((one) => [JSON.stringify(one.access), one])).values()]
}
