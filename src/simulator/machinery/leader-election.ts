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

async function acquire(cx: ControllerContext, candidate: Candidate): Promise<void> {
  let observed = ''
  let since = cx.clock.now().getTime()
  for (;;) {
    const now = cx.clock.now().getTime()
    const lease = await current(cx, candidate)
    const { holderIdentity, renewTime } = lease?.spec ?? {}
    const record = `${holderIdentity} ${renewTime}`
    if (record !== observed) since = now
    observed = record
    const free = (holderIdentity ?? '') === '' || now - since >= duration
    if (free && !isStopped(candidate) && (await take(cx, candidate, lease))) return
    await cx.clock.sleep(retry, cx.signal)
  }
}

const isStopped = ({ stopped }: Candidate): boolean => stopped?.() === true

async function current(cx: ControllerContext, { lease, namespace }: Candidate): Promise<Lease | undefined> {
  return foundIn(await cx.reader.get(Leases, { name: lease, namespace }))
}

async function take(cx: ControllerContext, candidate: Candidate, lease: Lease | undefined): Promise<boolean> {
  const { identity, namespace } = candidate
  const now = micro(cx)
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: duration / 1000,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: (lease?.spec?.leaseTransitions ?? -1) + 1,
  }
  const metadata = { name: candidate.lease, namespace }
  const wanted: Lease = made(Leases, { metadata, spec })
  try {
    const resourceVersion = lease?.metadata.resourceVersion
    const written = lease
      ? await cx.writer.mergePatch(Leases, metadata, {
          metadata: resourceVersion === undefined ? {} : { resourceVersion },
          spec,
        })
      : await cx.writer.create(Leases, wanted)
    const message = `${identity} became leader`
    await recordEvent(cx, written, candidate.lease, ['Normal', 'LeaderElection', message])
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

async function renew(cx: ControllerContext, candidate: Candidate): Promise<void> {
  let last = cx.clock.now().getTime()
  while (cx.clock.now().getTime() - last < duration) {
    await cx.clock.sleep(renewal, cx.signal)
    try {
      if (isStopped(candidate)) return
      const lease = await current(cx, candidate)
      if (lease?.spec?.holderIdentity !== candidate.identity) return
      await cx.writer.mergePatch(Leases, lease.metadata, { spec: { renewTime: micro(cx) } })
      last = cx.clock.now().getTime()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
}

const micro = (cx: ControllerContext): string => cx.clock.now().toISOString().replace('Z', '000Z')
