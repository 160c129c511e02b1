import type { Reader, Where } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import type { Bell } from './bell.ts'

/** Rings whenever one of these changes, until `signal`. A watch that ends or is refused leaves whoever waits to the regular look. */
export function ringOnChange(
  reader: Reader,
  followed: readonly (readonly [Kind, Where])[],
  { bell, signal }: { bell: Bell; signal: AbortSignal },
): void {
  for (const [kind, where] of followed) void ring(reader, [kind, where], { bell, signal })
}

async function ring(
  reader: Reader,
  [kind, where]: readonly [Kind, Where],
  { bell, signal }: { bell: Bell; signal: AbortSignal },
): Promise<void> {
  try {
    for await (const change of reader.follow(kind, where, signal)) if (change.type !== 'lost') bell.ring()
  } catch {
    bell.ring()
  }
}
