import {
  columnFilteringFeature,
  constructTable,
  createFilteredRowModel,
  createSortedRowModel,
  filterFn_equalsString,
  filterFn_includesString,
  globalFilteringFeature,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
} from '@tanstack/table-core'
import { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings'
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import { html } from 'htm/preact'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { spanText } from '../../../kube/duration.ts'
import { countsIn, type VmColumn, type VmRow, type VmTable } from '../vm-table.ts'

/** Pixels. */
const rowHeight = 32
/** On paper there are so many rows: a page for each fifty. */
const printedAtMost = 1000

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  columnFilteringFeature,
  globalFilteringFeature,
  rowSortingFeature,
  filteredRowModel: createFilteredRowModel(),
  sortedRowModel: createSortedRowModel(),
  filterFns: { equalsString: filterFn_equalsString, includesString: filterFn_includesString },
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
})

const modelOf = ({ columns, rows }: VmTable) =>
  constructTable({
    features,
    data: [...rows],
    columns: columns.map(({ id, holds }) => ({
      id,
      accessorFn: (row: VmRow) => row[id],
      sortFn: holds === 'text' ? ('alphanumeric' as const) : ('basic' as const),
      sortUndefined: 'last' as const,
      filterFn: 'equalsString' as const,
    })),
    globalFilterFn: 'includesString' as const,
    getColumnCanGlobalFilter: () => true,
  })

/** A table of any length that filters and sorts: of its rows only those are drawn that are in sight, but on paper. */
export function VmGrid({ table }: { table: VmTable }): VNode {
  const model = useMemo(() => modelOf(table), [table])
  const [, again] = useReducer((n: number) => n + 1, 0)
  const isPrinted = usePrinting()
  const rows = model.getRowModel().rows
  const { columns } = table
  const change = (act: () => void) => {
    act()
    again(undefined)
  }
  return html`<div class="filters">
      <label
        >Search
        <input
          type="search"
          onInput=${(event: InputEvent) =>
            change(() => model.setGlobalFilter((event.currentTarget as HTMLInputElement).value))}
      /></label>
      ${columns
        .filter(({ chosenBy }) => chosenBy)
        .map((column) =>
          chooser(table, column, (value) => change(() => model.getColumn(column.id)?.setFilterValue(value))),
        )}
      <output>${rows.length} of ${table.rows.length} rows</output>
    </div>
    <${Body}
      columns=${columns}
      rows=${rows.map((row) => row.original)}
      all=${table.rows}
      isPrinted=${isPrinted}
      sorting=${Object.fromEntries(columns.map(({ id }) => [id, model.getColumn(id)?.getIsSorted() || 'none']))}
      sortBy=${(id: string) => change(() => model.getColumn(id)?.toggleSorting())}
    />`
}

const chooser = (table: VmTable, column: VmColumn, choose: (value: string | undefined) => void): VNode =>
  html`<label
    >${column.title}
    <select
      onChange=${(event: Event) => choose((event.currentTarget as HTMLSelectElement).value || undefined)}
    >
      <option value="">all</option>
      ${countsIn(table, column).map(([value, many]) => html`<option value=${value}>${value} (${many})</option>`)}
    </select></label
  >`

interface Shown {
  columns: readonly VmColumn[]
  rows: readonly VmRow[]
  all: readonly VmRow[]
  isPrinted: boolean
  sorting: Readonly<Record<string, 'asc' | 'desc' | 'none'>>
  sortBy: (id: string) => void
}

const ariaSort = { asc: 'ascending', desc: 'descending', none: 'none' } as const
const arrows = { asc: ' ▲', desc: ' ▼', none: '' } as const

function Body({ columns, rows, all, isPrinted, sorting, sortBy }: Shown): VNode {
  const scroll = useRef<HTMLDivElement>(null)
  const visible = useVirtual(scroll, rows.length)
  const widths = useMemo(() => columns.map((column) => widthOf(column, all)), [columns, all])
  const drawn = isPrinted
    ? { first: 0, last: Math.min(rows.length, printedAtMost), before: 0, after: 0 }
    : visible
  const left = isPrinted ? rows.length - drawn.last : 0
  return html`<div class="scroll grid" ref=${scroll} tabindex="0" role="region" aria-label="Table of VMs">
      <table
        aria-rowcount=${rows.length + 1}
        style=${{ minWidth: `${widths.reduce((sum, width) => sum + width, 0)}ch` }}
      >
        <colgroup>
          ${widths.map((width) => html`<col style=${{ width: `${width}ch` }} />`)}
        </colgroup>
        <thead>
          <tr aria-rowindex="1">
            ${columns.map(({ id, title }) => {
              const how = sorting[id] ?? 'none'
              return html`<th scope="col" aria-sort=${ariaSort[how]}>
                <button type="button" onClick=${() => sortBy(id)}>${title}${arrows[how]}</button>
              </th>`
            })}
          </tr>
        </thead>
        <tbody>
          ${
            drawn.before > 0 &&
            html`<tr aria-hidden="true">
              <td colspan=${columns.length} style=${{ height: `${drawn.before}px`, padding: 0 }}></td>
            </tr>`
          }
          ${rows.slice(drawn.first, drawn.last).map((row, index) => rowOf(row, columns, drawn.first + index))}
          ${
            drawn.after > 0 &&
            html`<tr aria-hidden="true">
              <td colspan=${columns.length} style=${{ height: `${drawn.after}px`, padding: 0 }}></td>
            </tr>`
          }
        </tbody>
      </table>
    </div>
    ${left > 0 && html`<p class="hint">${left} rows more are in the JSON.</p>`}`
}

const rowOf = (row: VmRow, columns: readonly VmColumn[], index: number): VNode =>
  html`<tr key=${index} aria-rowindex=${index + 2}>
    ${columns.map((column) => {
      const text = cellText(row[column.id], column)
      return html`<td title=${text} class=${column.holds === 'text' ? '' : 'number'}>${text}</td>`
    })}
  </tr>`

function cellText(value: string | number | undefined, { holds }: VmColumn): string {
  if (value === undefined) return ''
  return holds === 'span' ? spanText(Number(value) * 1000) : String(value)
}

/** In letters, of the longest value: columns do not jump while rows come and go. */
function widthOf(column: VmColumn, rows: readonly VmRow[]): number {
  // Heads are bold, and have an arrow where rows are sorted by them.
  let most = Math.ceil(column.title.length * 1.2) + 2
  for (const row of rows) most = Math.max(most, cellText(row[column.id], column).length)
  return Math.min(most, 48) + 3
}

interface VisibleRows {
  first: number
  last: number
  /** Pixels of the rows that are not drawn. */
  before: number
  after: number
}

function useVirtual(scroll: { current: HTMLDivElement | null }, count: number): VisibleRows {
  const [, again] = useReducer((n: number) => n + 1, 0)
  const options = {
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 12,
    onChange: () => again(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options))
  virtualizer.setOptions(options)
  // So its adapters call it; there is none for Preact.
  /* oxlint-disable no-underscore-dangle */
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  /* oxlint-enable no-underscore-dangle */
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  return {
    first: first?.index ?? 0,
    last: (last?.index ?? -1) + 1,
    before: first?.start ?? 0,
    after: virtualizer.getTotalSize() - (last?.end ?? 0),
  }
}

function usePrinting(): boolean {
  const [isPrinted, print] = useState(false)
  useEffect(() => {
    const media = matchMedia('print')
    const changed = () => print(media.matches)
    const [before, after] = [() => print(true), () => print(false)]
    media.addEventListener('change', changed)
    addEventListener('beforeprint', before)
    addEventListener('afterprint', after)
    return () => {
      media.removeEventListener('change', changed)
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', after)
    }
  }, [])
  return isPrinted
}
