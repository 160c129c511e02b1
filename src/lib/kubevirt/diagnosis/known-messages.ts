import { compareVersions, parseVersion, versionOf } from '../../releases/release-versions.ts'
import type { VmReason } from './vm-troubles.ts'

/** A message that KubeVirt's programs log, and what is known of it. */
interface KnownMessage {
  /** As `kvup explain` takes it. */
  id: string
  component: string
  /** Absent: the component's own container. */
  container?: string
  /** In the log. */
  pattern: RegExp
  /** Releases that have it, `until` excluded; absent: it is not known which. */
  affects?: readonly { from: string; until?: string }[]
  is: 'harmless' | 'fault'
  /** What is wrong, or why nothing is; with its source. */
  sentence: string
  /** By the release of a component; commands and advice that help, each may end in five blanks and what it does. */
  remedy?: (version: string | undefined) => readonly string[]
  /** It is suspected where the log may not be read and this container keeps ending. */
  suspected?: true
}

const messages: readonly KnownMessage[] = [
  {
    id: 'log-client-certificates',
    component: 'virt-handler',
    pattern: /failed to load the certificate \/etc\/virt-handler\/clientcertificates\//u,
    affects: [{ from: 'v1.7.0' }],
    is: 'harmless',
    sentence:
      'from v1.7 on virt-handler logs "failed to load the certificate /etc/virt-handler/clientcertificates/tls.crt" every minute. This is harmless: virt-operator detaches that certificate on purpose (kubevirt issue 16264)',
  },
  {
    id: 'log-cell-to-cell',
    component: 'virt-handler',
    pattern: /\bvirt-handler\.cellToCell\(/u,
    affects: [
      { from: 'v1.4.0', until: 'v1.4.1' },
      { from: 'v1.5.0', until: 'v1.5.1' },
    ],
    is: 'fault',
    sentence:
      'virt-handler v1.4.0 and v1.5.0 panic in cellToCell as soon as a VM runs on some nodes (kubevirt issue 14318); fixed in v1.4.1 and v1.5.1',
    remedy: (version) => [`kvup upgrade --to ${isOfMinor(version, 4) ? 'v1.4.1' : 'v1.5.1'}`],
    suspected: true,
  },
  {
    id: 'log-no-selinux',
    component: 'virt-handler',
    container: 'virt-launcher',
    pattern: /Unable to query peer security context/u,
    is: 'fault',
    sentence:
      "libvirt in virt-handler's init container fails on a kernel without SELinux (kubevirt issue 16261), in every release. Use a kernel with CONFIG_SECURITY_SELINUX, or exclude these nodes from KubeVirt (spec.workloads.nodePlacement)",
    suspected: true,
  },
]

function isOfMinor(version: string | undefined, minor: number): boolean {
  const found = versionOf(version)
  return found?.major === 1 && found.minor === minor
}

/** Where the release is not known every one is. */
function isOfRelease({ affects }: KnownMessage, version: string | undefined): boolean {
  const found = versionOf(version)
  if (found === undefined || affects === undefined) return true
  return affects.some(
    ({ from, until }) =>
      compareVersions(found, parseVersion(from)) >= 0 &&
      (until === undefined || compareVersions(found, parseVersion(until)) < 0),
  )
}

/** Where something was logged. */
interface LogOrigin {
  component: string
  container?: string | undefined
  version?: string | undefined
}

const isOfOrigin = (known: KnownMessage, { component, container = component }: LogOrigin): boolean =>
  known.component === component && (known.container ?? known.component) === container

/** Nothing is suspected of a release that is not known. */
const isSuspected = (known: KnownMessage, { version }: LogOrigin): boolean =>
  versionOf(version) !== undefined && isOfRelease(known, version)

/** A fault that is known, for a cause. */
export interface KnownFault {
  sentence: string
  remedy: readonly string[]
}

/**
 * The known fault that a log tells of, or that a container which keeps ending is suspected of where its log was not read (`log` undefined): that is said in the
 * sentence. Undefined where none is. Pure.
 */
export function knownFault(log: string | undefined, origin: LogOrigin): KnownFault | undefined {
  const found = messages.find(
    (known) =>
      known.is === 'fault' &&
      isOfOrigin(known, origin) &&
      (log === undefined ? known.suspected === true && isSuspected(known, origin) : known.pattern.test(log)),
  )
  if (found === undefined) return undefined
  return {
    sentence:
      log === undefined
        ? `its log was not read, but this may be the cause: ${found.sentence}`
        : found.sentence,
    remedy: found.remedy?.(origin.version) ?? [],
  }
}

/** A message as it is explained to whoever met it in a log. */
export interface ExplainedMessage {
  id: string
  is: KnownMessage['is']
  component: string
  /** In whose log, and of which releases. */
  where: string
  means: string
  matters: string
  fix: string
}

/** Those that are known. */
export const knownMessages: readonly ExplainedMessage[] = messages.map(explained)

/** Those that a line of a log, or a part of it, is of. Pure. */
export const messagesIn = (line: string): readonly ExplainedMessage[] =>
  messages.filter(({ pattern }) => pattern.test(line)).map(explained)

function explained({
  id,
  is,
  component,
  container,
  affects,
  sentence,
  remedy,
}: KnownMessage): ExplainedMessage {
  const from = container === undefined ? component : `container ${container} of ${component}`
  const spans = (affects ?? []).map((span) =>
    span.until === undefined ? `${span.from} and later` : `${span.from} until ${span.until}`,
  )
  const releases = spans.length === 0 ? '' : ` of ${spans.join(', ')}`
  const [matters, fix] =
    is === 'harmless'
      ? ['This is harmless: there is nothing to do.', 'Nothing has to be done.']
      : [
          'The component fails, and an upgrade waits for it.',
          remedy
            ? 'Upgrade to the release that has the fix.'
            : 'No release is known to have a fix. Do what the first part says.',
        ]
  const isName = sentence.startsWith('virt-') || sentence.startsWith('libvirt')
  const means = `${isName ? sentence : sentence.charAt(0).toUpperCase() + sentence.slice(1)}.`
  return { id, is, component, where: `In the log of ${from}${releases}.`, means, matters, fix }
}

/** It is logged by design, and is no cause of anything. */
export const isHarmless = (line: string): boolean =>
  messages.some(({ is, pattern }) => is === 'harmless' && pattern.test(line))

/** What a release logs without harm, in sentences. */
export function harmlessOf(version: string | undefined): readonly string[] {
  if (versionOf(version) === undefined) return []
  return messages
    .filter((known) => known.is === 'harmless' && isOfRelease(known, version))
    .map(({ sentence }) => sentence)
}

/** A native sidecar from v1.6 on (kubevirt PR 13422): where it is not started, no init container after it is. */
const sidecarFrom = parseVersion('v1.6.0')

/** What is known where most VMs of a cluster, or of a node, are on their way without end; undefined where nothing is. */
export function knownOfVms({ status, mostOf }: VmReason, version: string | undefined): string | undefined {
  const runs = versionOf(version)
  const isOnItsWay = status === 'Scheduling' || status === 'Scheduled'
  if (mostOf === undefined || !isOnItsWay || runs === undefined) return undefined
  if (compareVersions(runs, sidecarFrom) < 0) return undefined
  return 'kubevirt issue 15355 reports this of v1.6.0, without a known fix. Suspects: the Kubernetes feature gate SidecarContainers is off, or nodes lack virt-handler'
}
