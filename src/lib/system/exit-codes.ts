/** Exit codes are part of the interface: scripts branch on them. docs/exit-codes.md is held to this table by a test. */
export const exitCode = {
  done: 0,
  bug: 1,
  usage: 2,
  blocked: 3,
  timedOut: 4,
  drifted: 5,
  locked: 6,
  forbidden: 7,
  unreachable: 8,
  lost: 9,
  asked: 10,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
