// The page's script is packed to keep the file small; its hash stands in the policy above.
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.body.append(script);
})();
