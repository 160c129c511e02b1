import { isFields } from '../../cluster/apply/field-path.ts'
import type { FieldChange } from '../../cluster/leaves.ts'
import type { OwnWork } from '../../seal/drift.ts'
import type { EusHop, PlatformStop } from '../eus-plan.ts'
import type { EusWindow } from './window.ts'

/** Release and image of each hop as a sealed plan has them: exactly these are asked for, or none. By minor and place from the end. */
export function asSealed(
  hops: readonly EusHop[],
  document: Readonly<Record<string, unknown>>,
): readonly EusHop[] {
  const sealed = Array.isArray(document['hops']) ? document['hops'].filter(isFields) : []
  return hops.map((hop, at) => {
    // Of one minor those that are left are the last ones.
    const behind = hops.slice(at + 1).filter(({ minor }) => minor === hop.minor).length
    const found = sealed.filter((one) => one['minor'] === hop.minor).at(-1 - behind)?.['platform']
    return isFields(found) && typeof found['version'] === 'string'
      ? { ...hop, platform: platformOf(hop.platform, found) }
      : hop
  })
}

function platformOf(now: PlatformStop, found: Readonly<Record<string, unknown>>): PlatformStop {
  const { image: _, unproven: __, ...rest } = now
  const { version, image, unproven } = found
  return {
    ...rest,
    version: String(version),
    ...(typeof image === 'string' && { image }),
    ...(unproven === true && { unproven }),
  }
}

/** The operator's path as a sealed plan has it: no other CSV is approved. Undefined where it has none. */
export function sealedPath(document: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { operator } = document
  const path = isFields(operator) ? operator['path'] : undefined
  return Array.isArray(path) ? path.map(String) : undefined
}

/** The same window, whose operator goes by that path. */
export function withPath<T extends Pick<EusWindow, 'plan'>>(
  window: T,
  path: readonly string[] | undefined,
): T {
  const { plan } = window
  if (path === undefined || plan.operator === undefined) return window
  return { ...window, plan: { ...plan, operator: { ...plan.operator, path } } }
}

/** What the steps of a window that have begun under the plan's uid leave behind in the facts that it is sealed by. */
export function windowWork(begun: ReadonlySet<string>): OwnWork {
  const has = (start: string) => [...begun].some((step) => step.startsWith(start))
  return ({ id }, { path }) => rules[id]?.(path, has) ?? false
}

type Has = (start: string) => boolean
type Rule = (path: FieldChange['path'], has: Has) => boolean

const rules: Readonly<Record<string, Rule>> = {
  pools(path, has) {
    const pool = /^(?<name>.+)\.paused$/u.exec(path)?.groups?.['name']
    return pool !== undefined && (has(`pause-${pool}`) || has(`unpause-${pool}`))
  },
  platform: (path, has) =>
    path === 'spec.channel' ? has('channel-') : has('request-') && /desired/u.test(path),
  // Which CSV is installed follows the platform, whoever approves it.
  subscription: (path, has) =>
    path === 'spec.channel'
      ? has('operator-channel-')
      : path === 'status.installedCSV'
        ? has('request-')
        : path.endsWith('installPlanApproval') && has('approval'),
  // Its operator rewrites parts of it when it is upgraded, which follows the platform (night E13).
  hyperconverged: (path, has) =>
    has('request-') || (path.includes('workloadUpdateStrategy') && has('hold-workload-updates')),
}
