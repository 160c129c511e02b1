/** One procedure at a time per cluster, whoever's laptop it runs on. A Lease; section "Lock" of docs/conventions. */
export interface Lock {
  /**
   * Takes the lock, works, gives it back. `held` is aborted when the lock is lost.
   * Throws `locked` (exit 6), naming the holder, when somebody else is at work.
   */
  hold<T>(work: (held: Held) => Promise<T>, queueing?: Queueing): Promise<T>
}

/** What happens while the lock is still somebody else's. */
export interface Queueing {
  /** Ends the wait for the lock. */
  signal?: AbortSignal
  /** Told once, in words, when there is something to wait for. */
  remark?(text: string): void
}

export interface Held {
  readonly signal: AbortSignal
  /** Reads the holder again; throws `locked` when it is no longer us. Called before every write. */
  confirm(): Promise<void>
}
