import type { Node } from './kinds/core-kinds.ts'
import { isRecord, type LabelTest, parseLabels } from './object.ts'

/** A LabelSelector as objects have it. */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** The same in kubectl's words; empty selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join()})`
  })
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join()
}

/** Whether it selects labels. None selects nothing, and an empty one everything, as for a PodDisruptionBudget. Throws for what no server has taken. */
export function selectorTest(selector: LabelSelector | undefined): LabelTest {
  return selector === undefined ? () => false : parseLabels(selectorText(selector), (why) => new Error(why))
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/** A term of required node affinity. */
export interface NodeTerm {
  matchExpressions?: Expression[]
  matchFields?: Expression[]
}

interface LabeledNode {
  name: string
  labels: Readonly<Record<string, string>>
}

/** True where there are none, or one of them holds; an empty term holds nowhere, as for the scheduler. */
export function fitsTerms(terms: readonly NodeTerm[], place: LabeledNode): boolean {
  return terms.length === 0 || terms.some((term) => holds(term, place))
}

function holds(
  { matchExpressions = [], matchFields = [] }: NodeTerm,
  { name, labels }: LabeledNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => meets(one, labels[one.key])) &&
    matchFields.every((one) => one.key === 'metadata.name' && meets(one, name))
  )
}

const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> =
  {
    In: (value, values) => value !== undefined && values.includes(value),
    NotIn: (value, values) => value === undefined || !values.includes(value),
    Exists: (value) => value !== undefined,
    DoesNotExist: (value) => value === undefined,
    Gt: (value, [limit]) => Number(value) > Number(limit),
    Lt: (value, [limit]) => Number(value) < Number(limit),
  }

const meets = ({ operator, values = [] }: Expression, value: string | undefined): boolean =>
  operators[operator]?.(value, values) ?? false

interface AskingPod {
  nodeSelector?: Readonly<Record<string, string>>
  affinity?: Record<string, unknown>
}

/** What a pod asks of the labels of its node, and that no node has. */
export interface UnmetLabels {
  /** `no node has the label cpu-feature.node.kubevirt.io/ipred-ctrl=true` */
  sentence: string
  /** Keys of the labels that it names. */
  keys: readonly string[]
}

/**
 * Which label of a pod's node selector, or which required node affinity, no node meets; where each is met somewhere, those that no node meets together. Undefined
 * where a node fits, or where no node is known. Pure.
 */
export function unmetLabels(pod: AskingPod | undefined, nodes: readonly Node[]): UnmetLabels | undefined {
  if (nodes.length === 0) return undefined
  const demands = [...selectorDemands(pod), ...affinityDemands(pod)]
  const places = nodes.map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
  if (places.some((place) => demands.every(({ fits }) => fits(place)))) return undefined
  const nowhere = demands.filter(({ fits }) => !places.some((place) => fits(place)))
  const asked = nowhere.length > 0 ? nowhere : demands
  const texts = asked.map(({ text }) => text).join(', ')
  const what = nowhere.length === 0 ? 'all of' : `the ${asked.length === 1 ? 'label' : 'labels'}`
  const keys = [...new Set(asked.flatMap((demand) => demand.keys))]
  return { sentence: `no node has ${what} ${texts}`, keys }
}

interface LabelDemand {
  text: string
  keys: readonly string[]
  fits: (place: LabeledNode) => boolean
}

const selectorDemands = ({ nodeSelector = {} }: AskingPod = {}): LabelDemand[] =>
  Object.entries(nodeSelector).map(([key, value]) => ({
    text: `${key}=${value}`,
    keys: [key],
    fits: ({ labels }) => labels[key] === value,
  }))

/** The field of affinity that must be met when a pod is placed. */
export const required = 'requiredDuringSchedulingIgnoredDuringExecution'

/** A term is met as a whole, and one of several is enough: with one term each of its expressions is a demand of its own. */
function affinityDemands({ affinity }: AskingPod = {}): LabelDemand[] {
  const nodeAffinity = affinity?.['nodeAffinity']
  const asked = isRecord(nodeAffinity) ? nodeAffinity[required] : undefined
  const found = isRecord(asked) ? asked['nodeSelectorTerms'] : undefined
  const terms = Array.isArray(found) ? (found as NodeTerm[]) : []
  const expressions = terms.flatMap(({ matchExpressions = [] }) => matchExpressions)
  if (terms.length < 2)
    return expressions.map((one) => ({
      text: textOf(one),
      keys: [one.key],
      fits: ({ labels }) => meets(one, labels[one.key]),
    }))
  return [
    {
      text: terms.map(({ matchExpressions = [] }) => matchExpressions.map(textOf).join(' and ')).join(' or '),
      keys: expressions.map(({ key }) => key),
      fits: (place) => fitsTerms(terms, place),
    },
  ]
}

const signs: Readonly<Record<string, string>> = { Gt: '>', Lt: '<', In: '=', NotIn: '!=' }

function textOf({ key, operator, values = [] }: Expression): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key}${signs[operator] ?? ` ${operator} `}${values.join('|')}`
}
