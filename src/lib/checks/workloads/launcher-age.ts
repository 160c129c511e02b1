import type { Evidence } from '../../facts/evidence.ts'
import { parseImage } from '../../facts/image.ts'
import { itemsOf } from '../../facts/known.ts'
import { allReleases, type Releases } from '../../releases/releases.ts'
import { minorOf, type Version, versionOf } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'
import { wayTo } from '../path/way.ts'
import { instancesOf } from './instances-of.ts'
import { listByLauncher } from './list-by-launcher.ts'

interface Launcher {
  image: string
  count: number
  /** Undefined: a digest that is not the one in use now. */
  version: Version | undefined
  /** A migration or a restart gives the same one again. */
  inUse: boolean
}

/** Night C1: upstream tests migrations from the minor before only. */
export const launcherAge: Check = {
  id: 'launcher-age',
  group: 'workloads',
  title: 'no VM runs on a virt-launcher two minors or a year before the target',
  needs: ['instances', 'deployments'],
  needsTarget: true,
  blocks: false,
  assess(question) {
    const launchers = launchersOf(question)
    const outdated = launchers.filter(({ inUse }) => !inUse)
    const installed = launchers.filter(({ inUse }) => inUse)
    return [
      ...tooOld(outdated, question, renewed),
      ...tooOld(installed, question, throughReleases(question)),
      ...untold(launchers.filter(({ version }) => !version)),
    ]
  },
}

function launchersOf(question: Question): readonly Launcher[] {
  const now = launcherInUse(question.evidence)
  const { version } = question.standing.observed
  return Object.entries(instancesOf(question).launchers).map(([image, count]) => ({
    image,
    count,
    version: versionOf(image === now ? version : parseImage(image).tag),
    inUse: image === now,
  }))
}

/** What virt-controller compares every VMI with (facts 2.10): it tells the version of a digest. */
function launcherInUse({ deployments }: Evidence): string | undefined {
  const controller = itemsOf(deployments).find(({ metadata }) => metadata.name === 'virt-controller')
  const words = controller?.spec?.template?.spec?.containers?.flatMap(({ command = [], args = [] }) =>
    command.concat(args),
  )
  const at = words?.indexOf('--launcher-image') ?? -1
  return at < 0 ? undefined : words?.[at + 1]
}

interface WayOut {
  sentence: string
  remedy: (images: readonly string[]) => readonly string[]
}

const renewed: WayOut = {
  sentence: 'migrate or restart them before the upgrade',
  remedy: listByLauncher,
}

function throughReleases(question: Question): WayOut {
  return {
    sentence: 'it is the installed one, so only the releases in between help',
    remedy: () => (question.target ? wayTo(question.target, question) : []),
  }
}

function tooOld(
  launchers: readonly Launcher[],
  { target, releases }: Question,
  { sentence, remedy }: WayOut,
): Finding[] {
  if (!target) return []
  const old = launchers.filter(({ version }) => version && isTooOld(version, target, releases))
  if (old.length === 0) return []
  const total = old.reduce((sum, { count }) => sum + count, 0)
  const images = old.map(({ image }) => image)
  return [
    {
      id: 'launcher-age',
      level: 'warning',
      summary: `${counted(total, 'VM', ['runs', 'run'])} on a virt-launcher that is too old to count on a migration to ${target.text}: ${someOf(old.map(said))}; ${sentence}`,
      objects: images,
      remedy: remedy(images),
    },
  ]
}

const said = ({ count, version }: Launcher): string => `${version?.text} under ${counted(count, 'VM')}`

function isTooOld(version: Version, target: Version, releases: Releases): boolean {
  return minorsBetween(version, target, releases) > 1 || isYearBefore(version, target, releases)
}

/** Across a major version the minors that are known are counted. */
function minorsBetween(from: Version, to: Version, releases: Releases): number {
  if (from.major === to.major) return to.minor - from.minor
  const minors = [...new Set(allReleases(releases).map(minorOf))]
  const [a, b] = [minors.indexOf(minorOf(from)), minors.indexOf(minorOf(to))]
  return a < 0 || b < 0 ? Number.POSITIVE_INFINITY : b - a
}

function isYearBefore(version: Version, target: Version, releases: Releases): boolean {
  const [from, to] = [dayOf(version, releases), dayOf(target, releases)]
  return from !== undefined && to !== undefined && to - from > 365 * 86_400_000
}

function dayOf(version: Version, { minors }: Releases): number | undefined {
  const day = minors[minorOf(version)]?.releases[version.text]
  return day === undefined ? undefined : Date.parse(day)
}

function untold(launchers: readonly Launcher[]): Finding[] {
  if (launchers.length === 0) return []
  const total = launchers.reduce((sum, { count }) => sum + count, 0)
  return [
    {
      id: 'launcher-age',
      level: 'info',
      summary: `of ${counted(total, 'VM')} the image of the virt-launcher does not tell its version: ${someOf(launchers.map(({ image }) => image))}`,
      objects: launchers.map(({ image }) => image),
      remedy: listByLauncher(launchers.map(({ image }) => image)),
    },
  ]
}
