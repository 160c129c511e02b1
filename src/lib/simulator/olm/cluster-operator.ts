import { type ClusterOperator, ClusterOperators, ClusterVersions } from '../../cluster/kinds/openshift.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { items, text } from '../api/json.ts'
import { control } from '../machinery/controller.ts'
import { isBefore } from './catalog-content.ts'
import { type Said, saying } from './conditions.ts'
import { ownServiceVersions } from './namespace-look.ts'
import { type OlmContext, seconds } from './olm-context.ts'
import { minorOf } from './platform.ts'

const name = 'operator-lifecycle-manager'

/**
 * Says to the platform whether an operator is in the way of its next minor, where the platform has a ClusterOperator for it (ocp 2.8).
 * Writes that one condition alone.
 */
export function runClusterOperator(cx: OlmContext): Promise<void> {
  const watched = [
    { kind: ClusterServiceVersions, where: { labels: `!${copiedFromLabel}` } },
    { kind: ClusterVersions },
    { kind: ClusterOperators, concerns: ({ metadata }: ClusterOperator) => metadata.name === name },
  ]
  return control(cx, watched, async () => {
    const own = await cx.reader.find(ClusterOperators, { name })
    const version = await cx.reader.find(ClusterVersions, { name: 'version' })
    if (own.is !== 'object' || version.is !== 'object') return undefined
    const next = following(version.object.status?.desired?.version)
    if (next === undefined) return undefined
    const said = verdict(await ownServiceVersions(cx.reader), next)
    const { metadata, status } = own.object
    const conditions = saying(status?.conditions, { Upgradeable: said }, seconds(cx))
    if (conditions === status?.conditions) return undefined
    const { resourceVersion } = metadata
    const change = {
      ...(resourceVersion !== undefined && { metadata: { resourceVersion } }),
      status: { conditions },
    }
    await cx.writer.mergePatch(ClusterOperators, metadata, change, 'status')
    return undefined
  })
}

/** The minor after a version's. */
function following(version: string | undefined): string | undefined {
  const [major, minor] = minorOf(version)?.split('.').map(Number) ?? []
  return major === undefined || minor === undefined ? undefined : `${major}.${minor + 1}`
}

function verdict(versions: readonly ClusterServiceVersion[], next: string): Said[string] {
  const bounded = versions.flatMap((csv) => {
    const limit = limitOf(csv)
    return limit !== undefined && isBefore(limit, next) ? [{ csv, limit }] : []
  })
  if (bounded.length === 0) return { status: 'True' }
  const lines = bounded.map(({ csv: { metadata }, limit }) => {
    const { name: operator, namespace } = metadata
    return `- maximum supported OCP version for ${namespace}/${operator} is ${limit}`
  })
  const message = `ClusterServiceVersions blocking minor version upgrades to ${next}.0 or higher:\n${lines.join('\n')}`
  return { status: 'False', reason: 'IncompatibleOperatorsInstalled', message }
}

function limitOf({ metadata }: ClusterServiceVersion): string | undefined {
  const given: unknown = JSON.parse(metadata.annotations?.['olm.properties'] ?? '[]')
  const limit = items({ given }, 'given').find(({ type }) => type === 'olm.maxOpenShiftVersion')
  return text(limit, 'value')
}
