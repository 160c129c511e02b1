import { loadKubeconfig } from '../../lib/cluster/http/kubeconfig.ts'
import { connectionOf, type Source } from './asked.ts'

/** What `--context`, `--cluster` and `--user` may name; no request is sent. */
export function namesIn(list: 'contexts' | 'clusters' | 'users'): Source {
  return async (asked, offer) => {
    const entries = await loadKubeconfig(connectionOf(asked), asked.cx.world.env)
    for (const { name } of entries[list]) offer({ value: name, description: '' })
  }
}
