import { hopFindings, laterCrdVersions } from '../../releases/hop-findings.ts'
import {
  type KnownBad,
  kubernetesWindow,
  latestPatch,
  type Releases,
  unknownRelease,
} from '../../releases/releases.ts'
import {
  compareVersions,
  minorNumber,
  minorOf,
  type Version,
  versionOf,
} from '../../releases/release-versions.ts'
import {
  type Check,
  hopOf,
  hopPath,
  kubernetesMinor,
  lacksHop,
  lacksVersion,
  pathFromHere,
  type Question,
  checksOf,
  type Found,
  concerned,
} from '../check-definition.ts'
import { enters, issuesOf } from '../../releases/release-path.ts'
import { onOldLaunchers } from './vm-checks.ts'

const pathCheck = checksOf('path')
const backupCheck = checksOf('backup')

/** The version policy, which nothing in KubeVirt enforces (facts 7). */
export const hopSupported = pathCheck('hop-supported', {
  title: 'this version step is supported',
  unchecked: 'the version step was not checked',
  findings: [
    'never-healthy',
    'from-unsupported',
    'downgrade',
    'minor-skipped',
    'major-step',
    'patch-skipped',
    'pre-release',
    'release-unknown',
  ],
  needs: ['kubevirts'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const hop = hopOf(question)
    const found = hop === undefined ? [neverSettled] : hopFindings(hop.from, hop.to, question.releases)
    return [...found.map((one) => withPath(one, question)), unknown(question)]
  },
})

/**
 * Several minors on, `kvup upgrade` goes minor by minor in one run, and judges each when its turn comes: that is said. Where Kubernetes has to be taken
 * along, or no way is known, it does not get there by itself.
 */
function withPath(found: Found, question: Question): Found {
  const { target, rolloutStatus } = question
  // While an update runs a step to somewhere else would be refused.
  if (found.id === 'patch-skipped' && rolloutStatus.target.version !== rolloutStatus.observed.version)
    return { ...found, remedy: ['finish the update that runs first'] }
  if (found.id !== 'minor-skipped' || target === undefined) return found
  const path = pathFromHere(target, question)
  const isOneRun = path?.is === 'path' && path.steps.every((step) => step.is === 'kubevirt')
  if (!isOneRun || question.method === 'olm')
    return { ...found, remedy: hopPath(target, question, found.remedy) }
  const inBetween = path.steps
    .slice(0, -1)
    .map(({ to }) => to)
    .join(', ')
  return {
    id: 'minor-skipped',
    level: 'info',
    summary: `the upgrade to ${target.text} goes minor by minor in one run, over ${inBetween}; kvup checks each step again before it starts`,
    remedy: [`kvup upgrade --to ${target.text}`],
  }
}

const neverSettled: Found = {
  id: 'never-healthy',
  level: 'warning',
  summary: 'no version was ever completely installed, so there is none to upgrade from',
  remedy: ['kvup status'],
}

/** Made only where it could not. */
export const manifestFetched = pathCheck('manifest-not-read', {
  title: 'the manifest of the target can be fetched',
  unchecked: 'the manifest was not read',
  needs: [],
  blocks: true,
  assess: ({ manifestUnread }) => manifestUnread,
})

/** A patch holds no surprises that its minor has not; a minor that is newer than all that are known may. One that nothing shows may be mistyped. */
function unknown(question: Question): Found | undefined {
  const { target: to, releases } = question
  const summary = to && unknownRelease(to, releases)
  if (to === undefined || summary === undefined) return undefined
  const dated = `${summary} (release data of ${releases.asOf})`
  const isKnownMinor = releases.minors[minorOf(to)] !== undefined
  if (!isProven(to, question, isKnownMinor))
    return {
      id: 'release-unknown',
      level: 'not-checked',
      summary: `${dated}, and ${isKnownMinor ? 'kvup has not read its manifest' : 'no flag names its manifest'}: whether it exists was not checked`,
      remedy: [
        'kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones',
        'where it exists, add --manifest FILE or URL: with its kubevirt-operator.yaml kvup judges it',
      ],
    }
  return {
    id: 'release-unknown',
    level: isKnownMinor ? 'info' : 'warning',
    summary: `${dated}. kvup judges it by general rules`,
    newerThan: releases.asOf,
    remedy: [`kvup releases --since ${minorOf(to)}.0`],
  }
}

/** By its manifest, a catalog that offers it, or its images, which run here: no release data are as new as a release. */
const isProven = (
  to: Version,
  { manifest, isManifestNamed, method, rolloutStatus, installation: { kubevirt } }: Question,
  isKnownMinor: boolean,
): boolean =>
  method === 'olm' ||
  (manifest !== undefined && (isKnownMinor || isManifestNamed === true)) ||
  [rolloutStatus.observed.version, kubevirt.status?.operatorVersion].includes(to.text)

/** Each minor of KubeVirt supports three of Kubernetes (facts 7). */
export const kubernetesSupported = pathCheck('kubernetes-window', {
  title: 'Kubernetes is supported before and after',
  unchecked: 'the version of Kubernetes was not checked',
  needs: ['serverVersion', 'kubevirts'],
  blocks: true,
  lacks: ({ snapshot: { serverVersion } }) =>
    kubernetesMinor(serverVersion) === undefined
      ? 'the API server does not say which minor of Kubernetes it is'
      : undefined,
  assess(question) {
    const runs = kubernetesMinor(question.snapshot.serverVersion)
    if (runs === undefined) return []
    const now = misfit(versionOf(question.rolloutStatus.observed.version), runs, question)
    const after = misfit(question.target, runs, question)
    return [
      ...(now ? [today(now, question.target !== undefined && after === undefined)] : []),
      ...(after ? [then(after, question, now)] : []),
    ]
  },
})

interface Misfit {
  version: Version
  runs: number
  is: 'too old' | 'too new'
  window: string
}

function misfit(version: Version | undefined, runs: number, { releases }: Question): Misfit | undefined {
  const window = version && kubernetesWindow(version, releases)
  if (version === undefined || window === undefined) return undefined
  const { min, max, known } = window
  const is = runs < minorNumber(min) ? 'too old' : runs > minorNumber(max) ? 'too new' : undefined
  const by = known ? '' : `, estimated: the release data are of ${releases.asOf}`
  return is && { version, runs, is, window: `${min} to ${max}${by}` }
}

/** `isMended`: the version that it goes to supports what runs. */
function today(now: Misfit, isMended: boolean): Found {
  return {
    level: 'warning',
    summary: `this cluster runs Kubernetes 1.${now.runs}, but KubeVirt ${minorOf(now.version)} supports ${now.window}`,
    remedy: [
      isMended ? `the upgrade fixes this: the target supports Kubernetes 1.${now.runs}` : untilThen(now),
    ],
  }
}

const untilThen = ({ is, version }: Misfit): string =>
  is === 'too new'
    ? 'kvup releases     lists which KubeVirt supports it'
    : `take Kubernetes to a minor that ${minorOf(version)} supports`

/** Too new as it was before is no worse after the hop. */
function then(after: Misfit, question: Question, now: Misfit | undefined): Found {
  const noWorse = after.is === 'too new' && now?.is === 'too new'
  return {
    level: noWorse ? 'warning' : 'blocker',
    summary: sentence(after),
    remedy: pathThere(after, question),
  }
}

const sentence = ({ version, runs, is, window }: Misfit) =>
  `Kubernetes 1.${runs} is ${is} for KubeVirt ${minorOf(version)} (${window})`

function pathThere({ version, runs, is }: Misfit, question: Question): readonly string[] {
  const path = is === 'too old' ? hopPath(version, question) : []
  return path.length > 0 ? path : [`kvup releases     lists versions that support Kubernetes 1.${runs}`]
}

interface Hop {
  from: Version
  to: Version
}

/** Known bugs of a release on the way (facts 8). Each finding is named by the issue, so that one can be accepted without the others. */
export const knownBad = pathCheck('known-bad', {
  title: 'no issue is known of this version step',
  unchecked: 'known issues were not looked up',
  findings: 'any',
  needs: ['kubevirts'],
  needsTarget: true,
  lacks: lacksHop,
  blocks: true,
  assess(question) {
    const hop = hopOf(question)
    if (hop === undefined) return []
    return issuesOf(hop, question.releases).flatMap((bad) => finding(bad, hop, question) ?? [])
  },
})

function finding(bad: KnownBad, hop: Hop, question: Question): Found | undefined {
  const { id, summary, issue, remedy = [] } = bad
  const vms =
    bad.launchersBefore === undefined ? concerned(bad, question) : onOldLaunchers(bad, hop, question)
  if (vms === undefined) return undefined
  const level = (isEvicting(question) && bad.withEvict) || bad.level
  const patch = level === 'info' ? undefined : patchWithout(bad, hop, question.releases)
  const fixed =
    patch === undefined
      ? ''
      : level === 'blocker'
        ? `: ${patch.text} does not`
        : `; ${patch.text} has the fix`
  return {
    id,
    level,
    summary: `${summary}${vms.text}${fixed}`,
    ...(vms.objects && { objects: vms.objects }),
    remedy: [
      ...(patch === undefined ? [] : [`kvup upgrade --to ${patch.text}`]),
      ...(bad.withEvict && question.leavingPaused ? [question.leavingPaused] : []),
      ...remedy,
      `read ${issue}`,
    ],
  }
}

/** Whether KubeVirt shuts down what does not move by itself, once VM updates resume. */
const isEvicting = ({ methodsAtEnd, installation }: Question): boolean =>
  (methodsAtEnd ?? installation.workloadUpdateMethods).includes('Evict')

/** The newest patch of the same minor, where the issue is not in it. */
function patchWithout(bad: KnownBad, { from, to }: Hop, releases: Releases): Version | undefined {
  const patch = latestPatch(minorOf(to), releases)
  if (patch === undefined || compareVersions(patch, to) <= 0) return undefined
  return issuesOf({ from, to: patch }, releases).some(({ id }) => id === bad.id) ? undefined : patch
}

const since = { text: 'v0.17.0', major: 0, minor: 17, patch: 0 }

/** From which release on an update leaves no API unserved (facts 7, night C8). */
export const zeroDowntime = pathCheck('zero-downtime-since', {
  title: 'KubeVirt promises updates without downtime for the installed version',
  unchecked: 'updates without downtime were not checked',
  needs: ['kubevirts'],
  lacks: lacksVersion,
  blocks: true,
  assess({ rolloutStatus }) {
    const from = versionOf(rolloutStatus.observed.version)
    if (from === undefined || compareVersions(from, since) >= 0) return undefined
    return {
      level: 'blocker',
      summary: `${from.text} is installed: KubeVirt promises updates without downtime only from ${since.text} on`,
      remedy: ['plan an outage of all VMs, and export them first: kubectl get vm -A -o yaml > vms.yaml'],
    }
  },
})

/** Said plainly, before (facts 7, night U4 and C7). */
export const cannotBeUndone = backupCheck('cannot-be-undone', {
  title: 'everything in this version step can be undone',
  unchecked: 'the way back was not checked',
  needs: ['kubevirts'],
  needsTarget: true,
  assess(question) {
    if (isThereAlready(question)) return undefined
    return {
      level: 'info',
      summary: whatStays(question).join('. '),
      remedy: ['kubectl get vm,vmi -A -o yaml > virtual-machines.yaml', ...etcdSaved(question)],
    }
  },
})

/** Installed completely, and nothing else on its way: there is nothing to undo. */
function isThereAlready({ rolloutStatus: { observed, target: underWay }, target }: Question): boolean {
  return observed.version === target?.text && underWay.version === target?.text
}

/** OLM runs on other clusters too. */
function etcdSaved({ method }: Question): readonly string[] {
  return method === 'olm'
    ? [
        '/usr/local/bin/cluster-backup.sh /home/core/assets/backup     backs etcd up, on a control plane node of OKD or OpenShift',
        'etcdctl snapshot save etcd.db     elsewhere',
      ]
    : ['etcdctl snapshot save etcd.db']
}

function whatStays(question: Question): readonly string[] {
  const hop = hopOf(question)
  const dropped = question.releases.droppedCrdVersions.filter((one) => hop && enters(hop, one.in))
  const later = hop ? laterCrdVersions(hop.from, question.releases, hop.to) : []
  const stored = later.map(({ group, versions }) => `${group} as ${versions.join(' and ')}`)
  const backup = 'Back up etcd now'
  if (hop && compareVersions(hop.to, hop.from) < 0)
    return [`a VM on a newer virt-launcher than ${hop.to.text} needs a restart to return to it`, backup]
  return [
    question.method === 'olm'
      ? 'there is no way back once the InstallPlan is approved: OLM does not downgrade, and finishes the new HyperConverged and KubeVirt'
      : stored.length > 0
        ? `there is no way back once virt-operator has replaced the CRDs: ${hop?.to.text} stores ${stored.join(' and ')}, which ${hop?.from.text} does not have`
        : 'KubeVirt does not support going back once virt-controller is updated',
    'A VM on the new virt-launcher cannot migrate to an old one',
    backup,
    ...dropped.map(({ group, versions }) => `${group} is no longer served as ${versions.join(' or ')}`),
  ]
}

/** Whether there is a way from here to there. */
export const pathChecks: readonly Check[] = [hopSupported, kubernetesSupported, knownBad, zeroDowntime]

/** What has to be safe before the first write. */
export const backupChecks: readonly Check[] = [cannotBeUndone]
