/** What the build makes of `browser/`: the script and the style of the page, each as one text. */
declare module 'virtual:report-page' {
  export const script: string
  export const style: string
}
