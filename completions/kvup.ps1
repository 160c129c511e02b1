# PowerShell completion for kvup: kvup completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kvup' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  # Older versions cannot pass an empty argument, but they can pass its quotes.
  if ($wordToComplete -eq '') { $words += '""' }
  kvup __complete '--' $words 2>$null | Where-Object { $_ -notmatch '^:' } | ForEach-Object {
    $value, $description = $_ -split [char]9, 2
    if (-not $description) { $description = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
  }
}
