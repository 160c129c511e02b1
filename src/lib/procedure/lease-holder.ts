/** Who takes the lock, and how this machine tells whether one of its processes still lives. */
export interface Holder {
  /** user@host */
  who: string
  host: string
  pid: number
  /**
   * Which processes `isAlive` can see: the boot of this machine and the PID namespace of this process, lower-case letters and digits. Host names are not enough, for containers on
   * the network of their host, and machines that are all called `localhost`, share one. Undefined where it cannot be told.
   */
  machine?: string | undefined
  isAlive(pid: number): boolean
}

/** `user@host/pid/nonce-machine`: unique per run, readable for people, and `--take-over` takes it as it is. */
export function identityOf({ who, pid, machine }: Holder, nonce: string): string {
  return `${who}/${pid}/${nonce}${machine === undefined ? '' : `-${machine}`}`
}

interface Process {
  user: string
  host: string
  pid: number
  /** Absent in identities of releases that had none. */
  machine?: string
}

/** What an identity says of its process; undefined for one that kvup did not make. */
export function processOf(identity: string): Process | undefined {
  const parts =
    /^(?<user>[^\s/]+)@(?<host>[^\s@/]+)\/(?<pid>\d+)\/[^\s/-]+(?:-(?<machine>[0-9a-z]+))?$/u.exec(
      identity,
    )?.groups
  const { user, host, pid, machine } = parts ?? {}
  if (user === undefined || host === undefined) return undefined
  return { user, host, pid: Number(pid), ...(machine !== undefined && { machine }) }
}

/** True when the identity names a process that would be seen here and has ended. What cannot be told is alive, and is watched as a foreign one. */
export function isDead(identity: string, holder: Pick<Holder, 'machine' | 'pid' | 'isAlive'>): boolean {
  const theirs = processOf(identity)
  if (theirs?.machine === undefined || theirs.machine !== holder.machine) return false
  return theirs.pid !== holder.pid && !holder.isAlive(theirs.pid)
}
