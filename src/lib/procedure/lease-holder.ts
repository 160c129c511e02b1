/** Who takes the lock, and how this machine tells whether one of its processes still lives. */
export interface Holder {
  /** user@host */
  who: string
  host: string
  pid: number
  isAlive(pid: number): boolean
}

/** `user@host/pid/nonce`: unique per run, readable for people, and `--take-over` takes it as it is. */
export function identityOf({ who, pid }: Holder, nonce: string): string {
  return `${who}/${pid}/${nonce}`
}

/** True when the identity names a process of this very machine that has ended. What cannot be told is alive. */
export function isDead(identity: string, holder: Holder): boolean {
  const parts = /@(?<host>[^@/]+)\/(?<pid>\d+)\/[^/]+$/.exec(identity)?.groups
  if (parts === undefined || parts['host'] !== holder.host) return false
  const theirs = Number(parts['pid'])
  return theirs !== holder.pid && !holder.isAlive(theirs)
}
