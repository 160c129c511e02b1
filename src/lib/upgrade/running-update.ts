import { shellWord } from '../system/shell-word.ts'
import type { Standing } from '../facts/standing.ts'
import type { HopFinding } from '../releases/finding.ts'
import { crdsThatGo } from '../releases/crds-that-go.ts'
import { type Version, versionOf } from '../releases/version.ts'

/** How far an update to another version has come, by what going back from it costs (night U4). */
export type Way = 'none' | 'joined' | 'untouched' | 'handlers' | 'controllers' | 'all'

/**
 * Where the operator is going now, seen from the version that is wanted. A new operator that takes the present version over
 * (night U2) is going nowhere else: `none`.
 */
export function runningUpdate({ target, observed, components, verdict }: Standing, to: Version): Way {
  const under = target.id !== undefined && observed.id !== undefined && target.id !== observed.id
  if (target.version === to.text) return under || verdict !== 'Settled' ? 'joined' : 'none'
  return under && target.version !== observed.version ? howFar(components) : 'none'
}

function howFar(components: Standing['components']): Way {
  const moved = components.filter((c) => c.applied).map((c) => c.name)
  if (moved.length === 0) return 'untouched'
  if (moved.every((name) => name === 'virt-handler')) return 'handlers'
  return moved.includes('virt-api') ? 'all' : 'controllers'
}

/** Whether `kvup upgrade --to` the version before is done without a risk to accept: virt-controller is not new yet (night U4). */
export function isWayBackOpen(standing: Standing, back: Version): boolean {
  const way = runningUpdate(standing, back)
  return standing.observed.version === back.text && way !== 'controllers' && way !== 'all'
}

/** What stands against leaving an update that is under way, and what it means. `onNew`: VMIs on its virt-launcher already. */
export function runningFindings(
  standing: Standing,
  to: Version,
  onNew: readonly string[],
): readonly HopFinding[] {
  const way = runningUpdate(standing, to)
  if (way === 'none') return []
  const running = standing.target.version ?? 'another version'
  if (way === 'joined')
    return [
      {
        id: 'update-joined',
        level: 'info',
        summary: `an update to ${to.text} is under way already: kvup joins it`,
        remedy: [],
      },
    ]
  if (way === 'untouched')
    return [
      {
        id: 'update-taken-over',
        level: 'info',
        summary: [
          `an update to ${running} is under way, but no component carries it yet: ${to.text} takes its place`,
          ...(standing.observed.version === to.text ? crdsGone(running, to) : []),
        ].join('; '),
        remedy: [],
      },
    ]
  return standing.observed.version === to.text
    ? wayBack(way, { running, to, onNew })
    : [anotherUpdate(running, to)]
}

function anotherUpdate(running: string, to: Version): HopFinding {
  return {
    id: 'another-update-running',
    level: 'blocker',
    summary: `an update to ${running} is under way and components carry it already; ${to.text} was asked for`,
    remedy: [`kvup upgrade --to ${shellWord(running)}`, 'kvup status'],
  }
}

/** Graded by what was replaced already: virt-controller of the new version starts VMs that cannot migrate back (night U4). */
function wayBack(
  way: Way,
  { running, to, onNew }: { running: string; to: Version; onNew: readonly string[] },
): readonly HopFinding[] {
  const summary = {
    handlers: `going back from ${running} to ${to.text}: virt-handler was replaced on some nodes and rolls back`,
    controllers: `going back from ${running} to ${to.text}: virt-controller is new, ${stranded(onNew)}`,
    all: `going back from ${running} to ${to.text}: every component was replaced, this is a downgrade, and ${stranded(onNew)}`,
  }[way as 'handlers' | 'controllers' | 'all']
  const level = way === 'handlers' ? 'warning' : 'blocker'
  const id = way === 'all' ? 'downgrade' : 'way-back'
  return [
    {
      id,
      level,
      summary: [summary, ...crdsGone(running, to)].join('; '),
      ...(way !== 'handlers' && onNew.length > 0 && { objects: onNew.slice(0, 20) }),
      remedy: [`kvup upgrade --to ${shellWord(running)}`, `kvup upgrade --to ${to.text} --accept ${id}`],
    },
  ]
}

function crdsGone(running: string, to: Version): readonly string[] {
  const from = versionOf(running)
  const goes = from && crdsThatGo(from, to)
  return goes === undefined ? [] : [goes]
}

function stranded(onNew: readonly string[]): string {
  const which =
    onNew.length === 0 ? 'no VM runs' : onNew.length === 1 ? '1 VM runs' : `${onNew.length} VMs run`
  return `${which} the new virt-launcher, from which nothing migrates back`
}
