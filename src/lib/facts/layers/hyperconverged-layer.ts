import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { condition } from '../../cluster/object.ts'
import {
  type HyperConvergedStanding,
  hyperConvergedStanding,
} from '../hyperconverged/hyperconverged-standing.ts'
import type { Known } from '../known.ts'
import type { Layer } from './layer.ts'

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes'>

/** Undefined where there is none; `updating`: the CSV or the InstallPlan above it is on its way. */
export function hyperConvergedLayer(found: Known<HyperConverged>, updating: boolean): Layer | undefined {
  if (!found.known) return { layer: 'hyperconverged', verdict: 'Unknown', says: found.why }
  const [hco, second] = found.items
  if (!hco) return undefined
  if (second) return several(found.items)
  const standing = hyperConvergedStanding(hco)
  const { name, tainted } = standing
  const help = `kubectl -n ${standing.namespace} describe hyperconvergeds.hco.kubevirt.io ${name}`
  const judged = judge(hco, standing, updating)
  return {
    layer: 'hyperconverged',
    object: `hyperconverged/${name}`,
    ...judged,
    ...(judged.verdict === 'Degraded' && { help: [help] }),
    ...(tainted !== undefined && {
      notes: [...(judged.notes ?? []), `its configuration is not supported: ${tainted}`],
    }),
  }
}

function several(items: readonly HyperConverged[]): Layer {
  const places = items.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).join(', ')
  return {
    layer: 'hyperconverged',
    verdict: 'Degraded',
    says: `there are ${items.length} (${places}), and a cluster has one`,
    help: ['kubectl get hyperconvergeds.hco.kubevirt.io -A'],
  }
}

/** Good only where every condition is; what is bad is expected while the operator is replaced (ocp 1.5, 9.5). */
function judge(hco: HyperConverged, standing: HyperConvergedStanding, updating: boolean): Judged {
  const { good, why, operatorVersion = 'of no version yet', current } = standing
  if (good) return { verdict: 'Settled', says: operatorVersion }
  const bad = isBad(hco)
  const isMoving = updating || is(hco, 'Progressing', 'True') || !current
  const said = { says: operatorVersion, notes: why }
  if (bad && !isMoving) return { verdict: 'Degraded', ...said }
  const waits = { ...said, waitsFor: 'every condition to be as it must be' }
  if (!isMoving) return { verdict: 'Waiting', ...waits }
  return { verdict: 'Updating', ...waits, ...(bad && { expected: 'so it looks while it updates' }) }
}

const is = (hco: HyperConverged, type: string, status: string): boolean =>
  condition(hco, type)?.status === status

const isBad = (hco: HyperConverged): boolean =>
  is(hco, 'Degraded', 'True') || is(hco, 'Available', 'False') || is(hco, 'ReconcileComplete', 'False')
