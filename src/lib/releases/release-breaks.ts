import { hypervisorOf, type KnownBad, latestPatch, type Releases, type Shift } from './releases.ts'
import { compareVersions, minorOf, versionOf } from './release-versions.ts'

/** One thing that an upgrade to a minor breaks or changes, and the check that tells whether it does so here. */
export interface ReleaseBreak {
  minor: string
  /** Of these releases of it: `from v1.8.2`, `until v1.8.4`; absent: of all. */
  releases?: string
  summary: string
  check: string
  sources: readonly string[]
}

/** What each minor breaks, the oldest first: all that the release data know, whichever list it stands in. */
export function breaksOf(releases: Releases): readonly ReleaseBreak[] {
  const all = [
    ...qemuJumps(releases),
    ...releases.shifts.flatMap(ofShift),
    ...releases.droppedCrdVersions.map(ofDropped),
    ...releases.newGates.flatMap(ofGate),
    ...(releases.lostRights ?? []).map(ofLostRight),
    ...releases.knownBad.flatMap((bad) => ofIssue(bad, releases)),
  ]
  return all.toSorted((a, b) => order(a.minor) - order(b.minor))
}

function order(minor: string): number {
  const { major = 0, minor: number = 0 } = versionOf(`${minor}.0`) ?? {}
  return major * 10_000 + number
}

const checkOf = ({ check, hits, nodes }: Shift): string =>
  check ?? (hits ? 'vms-that-change' : nodes ? 'node-support' : 'defaults-that-shift')

function ofShift(shift: Shift): readonly ReleaseBreak[] {
  const { summary, backports = [], sources = [] } = shift
  const check = checkOf(shift)
  return [shift.in, ...backports].map((text) => {
    const release = versionOf(text)
    return release === undefined
      ? { minor: text, summary, check, sources }
      : { minor: minorOf(release), releases: `from ${text}`, summary, check, sources }
  })
}

const ofDropped = ({
  in: minor,
  group,
  versions,
  sources = [],
}: Releases['droppedCrdVersions'][number]): ReleaseBreak => ({
  minor,
  summary: `the CRDs of ${group} have ${versions.join(' and ')} no longer`,
  check: 'crd-stored-versions',
  sources,
})

function ofGate({
  in: minor,
  gate,
  needs,
  does = '',
}: Releases['newGates'][number]): readonly ReleaseBreak[] {
  const asked = Object.entries(needs).map(([what, version]) => `${what} ${version}`)
  if (asked.length === 0) return []
  const why = does && ` (${does})`
  const sources = ['https://github.com/kubevirt/kubevirt/pull/17405']
  const summary = `the feature gate ${gate} is on${why}, and needs ${asked.join(' and ')}`
  return [{ minor, summary, check: 'new-gates', sources }]
}

const ofLostRight = ({
  in: minor,
  component,
  what,
  sources = [],
}: NonNullable<Releases['lostRights']>[number]): ReleaseBreak => ({
  minor,
  summary: `${component} of the minor before loses ${what} until it is replaced`,
  check: 'rbac-diff',
  sources,
})

function ofIssue(bad: KnownBad, releases: Releases): readonly ReleaseBreak[] {
  const { summary, issue } = bad
  return Object.keys(releases.minors).flatMap((minor) => {
    const which = releasesWith(bad, minor, releases)
    return which === undefined
      ? []
      : [{ minor, ...(which !== '' && { releases: which }), summary, check: 'known-bad', sources: [issue] }]
  })
}

/** Empty: all of them; undefined: none. */
function releasesWith(bad: KnownBad, minor: string, releases: Releases): string | undefined {
  const { to, toMinor, launchersBefore, enters = launchersBefore, affects } = bad
  if (toMinor !== undefined && !toMinor.includes(minor)) return undefined
  if (enters !== undefined && enters !== minor) return undefined
  if (to !== undefined && to !== minor) return minorOfText(to) === minor ? `only ${to}` : undefined
  if (affects === undefined) return ''
  const [newest, start] = [latestPatch(minor, releases), versionOf(`${minor}.0`)]
  const within = affects.find(({ from, until }) => {
    // Whether some release of the minor lies in the range.
    const [first, fixed] = [versionOf(from), versionOf(until)]
    if (first === undefined || fixed === undefined || start === undefined || newest === undefined)
      return false
    return compareVersions(start, fixed) < 0 && compareVersions(first, newest) <= 0
  })
  if (within === undefined) return undefined
  return minorOfText(within.until) === minor ? `until ${within.until}` : ''
}

const minorOfText = (text: string): string | undefined => {
  const version = versionOf(text)
  return version && minorOf(version)
}

function qemuJumps(releases: Releases): readonly ReleaseBreak[] {
  const minors = Object.keys(releases.minors).toSorted((a, b) => order(a) - order(b))
  return minors.flatMap((minor, index) => {
    const before = latestPatch(minors[index - 1] ?? '', releases)
    const first = versionOf(`${minor}.0`)
    const [old, stack] = [before && hypervisorOf(before, releases), first && hypervisorOf(first, releases)]
    if (old === undefined || stack === undefined || minorText(old.qemu) === minorText(stack.qemu)) return []
    const summary = `VMs get QEMU ${stack.qemu} after ${old.qemu}, libvirt ${stack.libvirt} after ${old.libvirt}, and do not migrate back`
    const sources = [`https://github.com/kubevirt/kubevirt/blob/${stack.from}/hack/rpm-deps.sh`]
    return [{ minor, summary, check: 'qemu-jump', sources }]
  })
}

/** `10.1` of `10.1.0-10`. */
export const minorText = (text: string): string => text.split('.').slice(0, 2).join('.')
