import { Command } from 'commander'
import type { Context } from '../context.ts'
import type { KubeObject } from '../lib/cluster/object.ts'
import type { Document, View } from '../lib/output/printer.ts'
import type { Wire } from '../wire.ts'
import { asksCluster, manual } from './manual.ts'
import { takeSnapshot } from './snapshot/take-snapshot.ts'

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

export function snapshotCommand(wire: Wire): Command {
  return new Command('snapshot')
    .option(
      '--to-file <file>',
      'write to this file, an object per line; compressed when its name ends in .gz',
    )
    .option(
      '--redact',
      'replace the names of namespaces, VMs, nodes, users and registries, the same ones alike',
    )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup snapshot --to-file cluster.ndjson.gz', 'then kvup check --from cluster.ndjson.gz'],
          ['kvup snapshot --redact --to-file cluster.ndjson', 'to show it to somebody; read it before'],
          ['kvup snapshot -o yaml', 'to stdout'],
        ],
        more: 'It holds what kvup judges by, as plain Kubernetes objects, and never a Secret.',
        codes: asksCluster,
      }),
    )
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
  const { writeSaved } = await import('../lib/cluster/saved/write-saved.ts')
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
