local Stack = {}

-- Puts a value on top.
function Stack:push(value)
  if value == nil then
    error("nil")
  else
    self[#self + 1] = value
  end
end

local function size(stack)
  return #stack
end

return Stack
