import { type Lease, Leases } from '../../lib/kube/kinds/core-kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { type ControllerContext, foundIn, made, recordEvent } from './controller.ts'

interface Candidate {
  lease: string
  namespace: string
  /** The pod's name. */
  identity: string
  /** The process hangs: it neither takes nor renews a Lease, and does no work. */
  stopped?: () => boolean
}

/** KubeVirt's own: a Lease is good for 15 s; candidates look every 2 s. */
const duration = 15_000
const retry = 2000
const renewal = 5000

/** Waits for the Lease, then works until it is lost or everything ends; a holder that is gone is waited out, 15 s. */
export async function lead(
  cx: ControllerContext,
  candidate: Candidate,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!cx.signal.aborted) {
    await acquire(cx, candidate)
    const lost = new AbortController()
    const signal = AbortSignal.any([cx.signal, lost.signal])
    const working = work(signal)
    await Promise.race([working, renew(cx, candidate)])
    lost.abort()
    await working
  }
}

const now = (cx: ControllerContext): number => cx.clock.now().getTime()
const isStopped = ({ stopped }: Candidate): boolean => stopped?.() === true
const micro = (cx: ControllerContext): string => cx.clock.now().toISOString().replace('Z', '000Z')

async function acquire(cx: ControllerContext, candidate: Candidate): Promise<void> {
  let observed = ''
  let since = now(cx)
  for (;;) {
    const lease = await current(cx, candidate)
    const { holderIdentity = '', renewTime } = lease?.spec ?? {}
    const record = `${holderIdentity} ${renewTime}`
    if (record !== observed) since = now(cx)
    observed = record
    const isFree = holderIdentity === '' || now(cx) - since >= duration
    if (isFree && !isStopped(candidate) && (await take(cx, candidate, lease))) return
    await cx.clock.sleep(retry, cx.signal)
  }
}

async function current(cx: ControllerContext, { lease, namespace }: Candidate): Promise<Lease | undefined> {
  return foundIn(await cx.reader.get(Leases, { name: lease, namespace }))
}

/** False where somebody else was faster. */
async function take(cx: ControllerContext, candidate: Candidate, lease: Lease | undefined): Promise<boolean> {
  const { identity, namespace } = candidate
  const acquireTime = micro(cx)
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: duration / 1000,
    acquireTime,
    renewTime: acquireTime,
    leaseTransitions: (lease?.spec?.leaseTransitions ?? -1) + 1,
  }
  const metadata = { name: candidate.lease, namespace }
  const { resourceVersion } = lease?.metadata ?? {}
  const asRead = resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
  try {
    const written = lease
      ? await cx.writer.mergePatch(Leases, metadata, { ...asRead, spec })
      : await cx.writer.create(Leases, made(Leases, { metadata, spec }))
    const message = `${identity} became leader`
    await recordEvent(cx, written, candidate.lease, ['Normal', 'LeaderElection', message])
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Until the Lease is another's, could not be renewed for as long as it is good, or the process hangs. */
async function renew(cx: ControllerContext, candidate: Candidate): Promise<void> {
  for (let last = now(cx); now(cx) - last < duration;) {
    await cx.clock.sleep(renewal, cx.signal)
    try {
      if (isStopped(candidate)) return
      const lease = await current(cx, candidate)
      if (lease?.spec?.holderIdentity !== candidate.identity) return
      await cx.writer.mergePatch(Leases, lease.metadata, { spec: { renewTime: micro(cx) } })
      last = now(cx)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
}
