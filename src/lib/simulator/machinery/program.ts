import type { Pod } from '../../cluster/kinds/pods.ts'

/** What a pod's container runs. Resolves with its exit code, or with undefined when it goes on until `signal`. */
export type Program = (pod: Pod, signal: AbortSignal) => Promise<number | undefined>
