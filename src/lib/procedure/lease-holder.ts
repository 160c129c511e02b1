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

/** What an identity says of its process; undefined for one that kvup did not make. */
export function processOf(identity: string): { user: string; host: string; pid: number } | undefined {
  const parts = /^(?<user>.+)@(?<host>[^@/]+)\/(?<pid>\d+)\/[^/]+$/u.exec(identity)?.groups
  const { user, host, pid } = parts ?? {}
  return user === undefined || host === undefined ? undefined : { user, host, pid: Number(pid) }
}

/** True when the identity names a process of this very machine that has ended. What cannot be told is alive. */
export function isDead(identity: string, holder: Pick<Holder, 'host' | 'pid' | 'isAlive'>): boolean {
  const theirs = processOf(identity)
  if (theirs === undefined || theirs.host !== holder.host) return false
  return theirs.pid !== holder.pid && !holder.isAlive(theirs.pid)
}
