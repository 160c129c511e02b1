import type { Context, Wire } from '../context.ts'
import { getInstallation, type Installation } from '../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../lib/kubevirt/snapshot.ts'
import type { Document, DocumentStatus, View } from '../lib/output/printer.ts'
import { skewOf } from '../lib/releases/platform-releases.ts'
import { asksCluster, KvupCommand } from './command-options.ts'

export interface VersionOptions {
  client?: boolean
}

export interface VersionDocument extends Document {
  kind: 'Version'
  client: string
  server?: string
  /** Absent where there is no KubeVirt, or several. */
  kubevirt?: { namespace: string; operator?: string; observed?: string; target?: string }
}

export function versionCommand(wire: Wire): KvupCommand {
  return new KvupCommand('version')
    .option('--client', 'show only the version of kvup, and ask no cluster')
    .manual({
      examples: [
        ['kvup version', 'show kvup, the API server and KubeVirt'],
        ['kvup version --client -o json', 'show kvup alone, without a cluster'],
      ],
      codes: asksCluster,
    })
    .action(wire<VersionOptions, []>(version))
}

/** What kvup itself is, is said in any case. Throws `unreachable` without a cluster, unless only the client's version is asked for. */
export async function version(cx: Context, { client = false }: VersionOptions): Promise<void> {
  const document: VersionDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Version',
    client: cx.world.version,
  }
  if (client) return cx.printer.result(document, versionView)
  try {
    const { status, ...known } = await versionsThere(cx)
    cx.printer.result({ ...document, ...known }, versionView, status)
  } catch (error) {
    cx.printer.result(document, versionView)
    throw error
  }
}

async function versionsThere(cx: Context) {
  const { reader } = await cx.cluster()
  const snapshot = await takeSnapshot(reader, ['serverVersion'], cx.clock)
  const found = getInstallation(snapshot)
  if (found.is === 'unknown') cx.printer.warn(`the version of KubeVirt is not known: ${found.why}`)
  const server = snapshot.serverVersion?.gitVersion ?? ''
  const installed = found.is === 'one' ? kubevirt(found) : undefined
  for (const line of skewOf({ kubevirt: installed?.observed, kubernetes: server })) cx.printer.warn(line)
  const status: DocumentStatus = found.is === 'unknown' ? 'partial' : 'complete'
  return { server, ...(installed && { kubevirt: installed }), status }
}

function kubevirt(found: Installation) {
  const { observedKubeVirtVersion: observed, targetKubeVirtVersion: target } = found.kubevirt.status ?? {}
  const operator = found.operator?.version
  return {
    namespace: found.namespace,
    ...(operator && { operator }),
    ...(observed && { observed }),
    ...(target && { target }),
  }
}

export const versionView: View<VersionDocument> = {
  text: ({ client, server, kubevirt: installed }) => [
    `kvup        ${client}`,
    ...(server === undefined ? [] : [`Kubernetes  ${server}`]),
    ...(installed === undefined ? [] : [`KubeVirt    ${words(installed)}`]),
  ],
  names: ({ client }) => [`version/${client}`],
}

function words({ operator, observed, target }: NonNullable<VersionDocument['kubevirt']>): string {
  const now = observed ?? 'not installed yet'
  const moving = target !== undefined && target !== observed ? `, moving to ${target}` : ''
  return `${now}${moving} (operator ${operator ?? 'unknown'})`
}
