import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { Json } from './json.ts'
import { storageKey } from './kind-registry.ts'

export interface SubresourceCall {
  readonly object: KubeObject
  readonly body: Json
  readonly dryRun: boolean
  readonly user: string
  /** Query parameters: `container`, `tailLines`, `previous`. */
  readonly parameters: Readonly<Record<string, string>>
}

/** Answers with an object, or with text (pods/log). Throws a Refusal to refuse. */
export type SubresourceHook = (call: SubresourceCall) => object | string

/** What happens on PUT virtualmachines/restart, POST pods/eviction, GET pods/log. Other parts register it. */
export class Subresources {
  readonly #hooks = new Map<string, SubresourceHook>()

  on(kind: Pick<Kind, 'apiVersion' | 'plural'>, name: string, hook: SubresourceHook): void {
    this.#hooks.set(`${storageKey(kind)}/${name}`, hook)
  }

  find(kind: Pick<Kind, 'apiVersion' | 'plural'>, name: string): SubresourceHook | undefined {
    return this.#hooks.get(`${storageKey(kind)}/${name}`)
  }
}
